import { wrapText } from '../../analysis/review/columns.ts';
import { showText } from '../../analysis/review/show_text.ts';
import { countPlaces } from '../../core/requirements.ts';
import { count } from '../terminal.ts';
import type { WireApproval } from './wire.ts';

const COLUMNS = 80;
const CONTINUATION = '  | ';
const SHORT_MAX = 200;

/** Words of others, fit to be shown on one line: what hides, reorders or passes for another is an escape. */
export function show(text: string): string {
  return showText(text, { mayRunLeft: false, isToken: false }).text;
}

/** The same, cut short. */
export function showShort(text: string): string {
  const shown = show(text);
  return shown.length > SHORT_MAX ? `${shown.slice(0, SHORT_MAX)}…` : shown;
}

/** A time to come in at most four characters, such as `59s`, `29m` or `23h`; none to come is `0s`. */
export function describeTimeLeft(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}m` : `${Math.min(Math.floor(minutes / 60), 999)}h`;
}

/** Whether time runs out for an approval in this state. */
export function isRunningOut(status: string): boolean {
  return status === 'pending' || status === 'approved';
}

/** How many yes votes there are, and how many it takes. */
export function countVotes({ votes, requirements }: WireApproval): { given: number; needed: number } {
  return {
    given: votes.filter((vote) => vote.decision === 'approve').length,
    needed: countPlaces(requirements),
  };
}

/** Who else must vote. Which group a vote stands for is the service's to say. */
export function describeMissing(approval: WireApproval): string {
  const { given, needed } = countVotes(approval);
  const { groups, signature } = approval.requirements;
  const whose = groups.length === 0 ? '' : `, so that there is one each of ${groups.map(show).join(', ')}`;
  const signed = signature === 'none' ? '' : ', signed with a passkey';
  return `${count(Math.max(needed - given, 0), 'more vote')}${whose}${signed}`;
}

/**
 * How an approval stands at a time, as lines of at most 80 columns. What begins a line is this function's own, as it
 * is in the text view.
 */
export function describeStanding(approval: WireApproval, at: number): string[] {
  const { status, votes, expires_at, decided_by, decision_reason, void_reason } = approval;
  const { given, needed } = countVotes(approval);
  const left = describeTimeLeft(Date.parse(expires_at) - at);
  return [
    `status: ${show(status)}${isRunningOut(status) ? `, ${left} left, until ${expires_at}` : ''}`,
    `votes: ${given} of ${needed}`,
    ...votes.map(
      ({ approver, decision, scope, reason, at: votedAt }) =>
        `- ${show(approver)}: ${show(decision)}, scope ${show(scope)}, at ${votedAt}${quote(reason)}`,
    ),
    ...(status === 'pending' ? [`still needed: ${describeMissing(approval)}`] : []),
    ...(decided_by === null ? [] : [`decided by: ${show(decided_by)}${quote(decision_reason)}`]),
    ...(void_reason === null ? [] : [`voided because of: ${show(void_reason)}`]),
  ].flatMap((line) => wrapText(line, COLUMNS, CONTINUATION));
}

function quote(words: string | null): string {
  return words === null ? '' : `: "${show(words)}"`;
}
