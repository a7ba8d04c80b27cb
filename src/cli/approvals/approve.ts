import { OperatorError } from '../../core/operator_error.ts';
import { VOTE_SCOPES } from '../../core/policy.ts';
import { readArguments } from '../arguments.ts';
import { type Command, CommandFailed } from '../command.ts';
import { oneLine } from '../config_values.ts';
import { type Terminal, toJsonText } from '../terminal.ts';
import type { Answer, Client } from './client.ts';
import { approvalPath, connect, readReason, readViewHash } from './common.ts';
import { readShown } from './show.ts';
import { describeStanding, show } from './standing.ts';
import type { Surroundings } from './surroundings.ts';
import { readApproval } from './wire.ts';

const USAGE =
  'aegis approvals approve ID [--view-hash HASH | --yes] [--reason TEXT] [--scope once|run|session|window|allowlist] [--window-seconds N --max-uses N] [--json]';

const OPTIONS = {
  'view-hash': { type: 'string' },
  yes: { type: 'boolean' },
  reason: { type: 'string' },
  scope: { type: 'string' },
  'window-seconds': { type: 'string' },
  'max-uses': { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** What a vote says it saw. */
interface Seen {
  viewHash: string;
  /** The version that was shown; undefined where the hash alone was given. */
  version?: number;
}

/** `aegis approvals approve` */
export function approveCommand(surroundings: Surroundings): Command {
  return {
    usage: USAGE,
    summary:
      'votes for exactly what was shown: shows it and asks, unless given the `view_hash` of `show`; with --yes reads the view now and votes for that',
    run: async (args, terminal) => {
      const { values, positionals } = readArguments(args, OPTIONS, USAGE, { min: 1, max: 1 });
      const path = approvalPath(positionals[0]);
      const wish = {
        ...readReason(values.reason),
        ...readScope(values.scope),
        ...readNumber('window-seconds', 'window_seconds', values['window-seconds']),
        ...readNumber('max-uses', 'max_uses', values['max-uses']),
      };
      const viewHash = readViewHash(values['view-hash']);
      if (viewHash === undefined && values.yes !== true && surroundings.ask === undefined) {
        throw new OperatorError(
          'nobody is here to be shown what would run. Give `--view-hash` of what was seen, which `aegis approvals show ID` ends with',
        );
      }
      const client = connect(surroundings.env, terminal);
      const seen =
        viewHash === undefined
          ? await look(client, path, values.yes === true ? undefined : surroundings.ask, terminal)
          : { viewHash };
      if (seen === undefined) {
        terminal.complain('nothing was voted');
        return 1;
      }
      const answer = await client.vote(
        `${path}/approve`,
        { ...wish, view_hash: seen.viewHash },
        seen.version === undefined ? {} : { 'if-match': `"${seen.version}"` },
      );
      printDecided(answer, values.json === true, terminal);
      return 0;
    },
  };
}

/**
 * Reads the view, and asks a person about it where one is given. Undefined for any answer but yes.
 * @throws CommandFailed with 1 when nothing is to be decided any more.
 */
async function look(
  client: Client,
  path: string,
  ask: Surroundings['ask'],
  terminal: Terminal,
): Promise<Seen | undefined> {
  const { approval, text } = await readShown(client, path);
  const seen = { viewHash: approval.review.view_hash, version: approval.version };
  if (ask === undefined) return seen;
  // Standard output is for what came of it.
  terminal.complain(text);
  if (approval.status !== 'pending') {
    throw new CommandFailed(
      1,
      `the approval is not pending but ${show(approval.status)}, so nothing was voted`,
    );
  }
  const answer = await ask('\nApprove exactly this? [y/N] ');
  return /^\s*y(es)?\s*$/i.test(answer ?? '') ? seen : undefined;
}

/** Says how an approval stands after a vote. */
export function printDecided(answer: Answer, asJson: boolean, terminal: Terminal): void {
  const approval = readApproval(answer);
  if (asJson) terminal.print(toJsonText(approval));
  else terminal.print([approval.approval_id, ...describeStanding(approval, answer.at)].join('\n'));
}

function readScope(scope: string | undefined): { scope?: string } {
  if (scope === undefined) return {};
  if (VOTE_SCOPES.some((known) => known === scope)) return { scope };
  throw new OperatorError(
    `\`--scope\` is \`${oneLine(scope)}\` but must be one of ${VOTE_SCOPES.join(', ')}`,
  );
}

function readNumber(option: string, member: string, text: string | undefined): Record<string, number> {
  if (text === undefined) return {};
  if (/^[1-9]\d{0,8}$/.test(text)) return { [member]: Number(text) };
  throw new OperatorError(`\`--${option}\` is \`${oneLine(text)}\` but must be a whole number from 1`);
}
