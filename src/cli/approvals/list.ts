import { OperatorError } from '../../core/operator_error.ts';
import { readArguments } from '../arguments.ts';
import type { Command } from '../command.ts';
import { oneLine } from '../config_values.ts';
import { toJsonText, visible } from '../terminal.ts';
import { connect } from './common.ts';
import { type Column, fitColumns } from './fit_columns.ts';
import { type Filter, readAllApprovals } from './read_all.ts';
import { countVotes, describeTimeLeft, isRunningOut, show, showShort } from './standing.ts';
import type { Surroundings } from './surroundings.ts';
import type { WireApproval } from './wire.ts';

const STATUSES = ['pending', 'approved', 'rejected', 'expired', 'consumed', 'cancelled', 'voided'];
const USAGE = 'aegis approvals list [--status pending|…|all] [--agent NAME] [--tool NAME] [--json]';
const COLUMNS_LEAST = 80;
/** What the column of what is asked for, beside the others at their least, has room in. */
const COLUMNS_WITH_WHAT = 88;

/** `aegis approvals list` */
export function listCommand(surroundings: Surroundings): Command {
  return {
    usage: USAGE,
    summary: 'lists approvals, those that are pending unless told otherwise; what expires first comes first',
    run: async (args, terminal) => {
      const options = {
        status: { type: 'string' },
        agent: { type: 'string' },
        tool: { type: 'string' },
        json: { type: 'boolean' },
      } as const;
      const { values } = readArguments(args, options, USAGE);
      const { status = 'pending', agent, tool } = values;
      assertStatus(status);
      const filter: Filter = {
        ...(status !== 'all' && { status }),
        ...(agent !== undefined && { agent }),
        ...(tool !== undefined && { tool }),
      };
      const { items, at } = await readAllApprovals(connect(surroundings.env, terminal), filter);
      if (isRunningOut(status)) items.sort((left, right) => left.expires_at.localeCompare(right.expires_at));
      if (values.json === true) terminal.print(toJsonText(items));
      else if (items.length === 0) terminal.print(describeNone(filter));
      else {
        const width = Math.max(surroundings.columns ?? Number.POSITIVE_INFINITY, COLUMNS_LEAST);
        for (const line of toTable(items, status, at, width)) terminal.print(line);
      }
      return 0;
    },
  };
}

function assertStatus(status: string): void {
  if (status === 'all' || STATUSES.includes(status)) return;
  throw new OperatorError(
    `\`--status\` is \`${oneLine(status)}\` but must be one of ${[...STATUSES, 'all'].join(', ')}`,
  );
}

function describeNone({ status, agent, tool }: Filter): string {
  const of = [
    ...(agent === undefined ? [] : [` of agent \`${oneLine(agent)}\``]),
    ...(tool === undefined ? [] : [` of tool \`${oneLine(tool)}\``]),
  ];
  return `no ${status === undefined ? '' : `${status} `}approvals${of.join('')} that this key may see`;
}

/** A column with what it shows. */
interface Shown extends Column {
  cell(approval: WireApproval): string;
}

const ID: Shown = { title: 'ID', least: undefined, cell: ({ approval_id }) => approval_id };
const VOTES: Shown = { title: 'VOTES', least: undefined, cell: describeVotes };
const AGENT: Shown = { title: 'AGENT', least: 6, cell: ({ agent }) => show(agent) };
const ACTION: Shown = {
  title: 'ACTION',
  least: 8,
  cell: ({ resolved }) => showShort(`${resolved.tool}/${resolved.action}`),
};
const WHAT: Shown = { title: 'WHAT', least: 8, cell: describeWhat };

function toTable(items: readonly WireApproval[], status: string, at: number, width: number): string[] {
  const left = (approval: WireApproval): string => describeTimeLeft(Date.parse(approval.expires_at) - at);
  const state = (approval: WireApproval): string =>
    isRunningOut(approval.status) ? `${approval.status} ${left(approval)}` : show(approval.status);
  const STATE: Shown[] = status === 'all' ? [{ title: 'STATUS', least: undefined, cell: state }] : [];
  const LEFT: Shown[] = isRunningOut(status) ? [{ title: 'LEFT', least: undefined, cell: left }] : [];
  const what = width < COLUMNS_WITH_WHAT ? [] : [WHAT];
  const columns = [ID, ...STATE, ...LEFT, VOTES, AGENT, ACTION, ...what];
  return fitColumns(
    columns,
    items.map((approval) => columns.map(({ cell }) => cell(approval))),
    width,
  );
}

function describeVotes(approval: WireApproval): string {
  const { given, needed } = countVotes(approval);
  return `${given}/${needed}`;
}

/** The command as the view shows it, or else what is acted on. */
function describeWhat({ review, tool_call }: WireApproval): string {
  const command = review.lines.find(({ kind }) => kind === 'command');
  if (command !== undefined) return visible(command.text.slice(0, 200));
  return showShort(tool_call.resource ?? '');
}
