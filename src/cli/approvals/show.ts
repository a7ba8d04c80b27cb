import { readArguments } from '../arguments.ts';
import { type Command, CommandFailed } from '../command.ts';
import { toJsonText, visibleLines } from '../terminal.ts';
import type { Client } from './client.ts';
import { approvalPath, connect } from './common.ts';
import { describeStanding } from './standing.ts';
import type { Surroundings } from './surroundings.ts';
import { readApproval, type WireApproval } from './wire.ts';

const USAGE = 'aegis approvals show ID [--json]';
const TRIES = 5;

/** `aegis approvals show` */
export function showCommand(surroundings: Surroundings): Command {
  return {
    usage: USAGE,
    summary: 'shows exactly what would run, how it stands, and the hash of this view',
    run: async (args, terminal) => {
      const options = { json: { type: 'boolean' } } as const;
      const { values, positionals } = readArguments(args, options, USAGE, { min: 1, max: 1 });
      const path = approvalPath(positionals[0]);
      const client = connect(surroundings.env, terminal);
      if (values.json === true) terminal.print(toJsonText(readApproval(await client.get(path))));
      else terminal.print((await readShown(client, path)).text);
      return 0;
    },
  };
}

/** An approval and what a person is shown of it. */
export interface ShownApproval {
  approval: WireApproval;
  /** The service's view, and beneath it how the approval stands; the hash of this very view is its last line. */
  text: string;
}

/**
 * Reads an approval with its view. Both are of the same version, so that a vote for the hash is a vote for what was
 * shown.
 * @throws CommandFailed with 3 when it changes faster than it can be read.
 */
export async function readShown(client: Client, path: string): Promise<ShownApproval> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const view = await client.get(`${path}/review`, 'text/plain');
    const answer = await client.get(path);
    const approval = readApproval(answer);
    if (!isViewOf(view.text, approval)) continue;
    const text = [
      visibleLines(view.text.trimEnd()),
      '',
      'How it stands',
      ...describeStanding(approval, answer.at),
      '',
      `view_hash: ${approval.review.view_hash}`,
    ].join('\n');
    return { approval, text };
  }
  throw new CommandFailed(3, 'the approval changes faster than it can be read. Try again');
}

/** What begins a line of a view is the service's own, so none that others wrote can pass for these two. */
function isViewOf(view: string, { approval_id, version, review }: WireApproval): boolean {
  const [head, ...lines] = view.split('\n');
  const hashes = lines.filter((line) => line.startsWith('view_hash: '));
  const isSameView = hashes.length === 1 && hashes[0] === `view_hash: ${review.view_hash}`;
  return isSameView && head === `Approval ${approval_id}, version ${version}`;
}
