import type { Approval, ApprovalStatus } from '../../core/approval.ts';
import type { Caller } from '../../core/caller.ts';
import type { Fault, FaultCode } from '../../core/fault.ts';
import { findMissing } from './notice.ts';

// What is said to whoever clicked. Each text says first whether anything was decided, and is true when it is read
// twice: a click may be sent again.

/** A text of others in Slack's mrkdwn, where these three characters begin links and mentions. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const NOTHING_DECIDED = 'Nothing was decided';

/** Shown where a user is named; an id of any other form is not repeated. */
const SLACK_USER = /^[A-Z0-9]{1,32}$/;

export function tellUnmapped(slackUser: string): string {
  const named = SLACK_USER.test(slackUser) ? `, \`${slackUser}\`,` : '';
  return `${NOTHING_DECIDED}: you are not set up as an approver here. Ask an operator to set your Slack user id${named} as \`slack_user\` of your principal with \`PUT /v1/principals/:id\``;
}

export const DISABLED = `${NOTHING_DECIDED}: your principal is disabled. Ask an operator`;
export const FROZEN = `${NOTHING_DECIDED}: your principal is frozen. Ask an operator`;
export const KEYLESS = `${NOTHING_DECIDED}: you have no approver key that stands. Ask an operator for one with \`POST /v1/keys\``;
export const NOT_OURS = `${NOTHING_DECIDED}: this button is not one that this service knows. Open the approval in the console`;
/** True whether or not the answer to a commit was lost. */
export const UNAVAILABLE =
  'The service cannot answer now, so take nothing as decided by your click. Try again in a moment: to click twice does no harm, and the message shows how the approval stands';

function formatInstant(at: Date | null): string {
  return at === null ? '' : ` at ${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const BECAME: Readonly<Record<Exclude<ApprovalStatus, 'pending'>, string>> = {
  approved: 'it was approved',
  rejected: 'it was rejected',
  cancelled: 'it was taken back',
  expired: 'it has expired',
  voided: 'it was voided and cannot be used',
  consumed: 'it was approved and has been used',
};

function describe(approval: Approval, caller: Caller): string {
  const { status, decidedBy, decidedAt, expiresAt, votes } = approval;
  const own = votes.find(({ approver }) => approver === caller.principal);
  const mine = own === undefined ? '' : `. Your vote to ${own.decision} is on it`;
  if (status === 'pending') return `it still waits for a decision${mine}`;
  if (status === 'expired') return `it expired${formatInstant(expiresAt)}${mine}`;
  const by =
    decidedBy === null || status === 'voided'
      ? ''
      : ` by ${decidedBy === caller.principal ? 'you' : `\`${decidedBy}\``}${formatInstant(decidedAt)}`;
  return `${BECAME[status]}${by}${mine}`;
}

/** What a vote that counts came to. */
export function tellVote(approval: Approval, caller: Caller): string {
  const own = approval.votes.find(({ approver }) => approver === caller.principal);
  // FAIL CLOSED: what cannot be seen on the approval is not said to be there.
  if (own === undefined)
    return `${NOTHING_DECIDED}: your vote is not on the approval. Open it in the console`;
  if (approval.status === 'approved') return 'Approved: your vote is counted, and none is missing';
  if (approval.status === 'rejected') return 'Rejected: the agent is told no';
  const { votes, groups } = findMissing(approval);
  const of = groups.length === 0 ? '' : `, of ${groups.map((group) => `\`${group}\``).join(', ')}`;
  return escapeText(
    `Your vote to ${own.decision} is counted. Not decided yet: ${votes === 1 ? '1 vote is' : `${votes} votes are`} missing${of}`,
  );
}

const CHANGED = `${NOTHING_DECIDED}: the approval is no longer as this button had it. Look at the message as it is now, or open it in the console`;

const TEXTS: Partial<Record<FaultCode, string>> = {
  stale_version: CHANGED,
  view_hash_mismatch: CHANGED,
  action_hash_mismatch: CHANGED,
  precondition_required: CHANGED,
  policy_changed: `${NOTHING_DECIDED}: the rules have changed and no longer let the agent ask for this, so the approval was voided`,
  signature_required: `${NOTHING_DECIDED}: policy wants a vote that is signed with a passkey. Approve it in the console`,
  not_found: `${NOTHING_DECIDED}: there is no such approval here`,
  unauthenticated: KEYLESS,
  agent_frozen: FROZEN,
};

const STATE_CODES: ReadonlySet<FaultCode> = new Set([
  'approval_already_decided',
  'approval_already_consumed',
  'approval_voided',
  'approval_expired',
]);

/** Why a click decided nothing; `approval` is as it stands now, as far as that could be read. */
export function tellRefusal(fault: Fault, approval: Approval | undefined, caller: Caller): string {
  if (STATE_CODES.has(fault.code) && approval !== undefined) {
    return escapeText(`Nothing was changed by your click: ${describe(approval, caller)}`);
  }
  if (fault.code === 'throttled') {
    const wait = fault.retryAfterSeconds === undefined ? '' : ` for ${fault.retryAfterSeconds} seconds`;
    return `${NOTHING_DECIDED}: too many of your attempts on this approval failed. Wait${wait}`;
  }
  return TEXTS[fault.code] ?? escapeText(`${NOTHING_DECIDED}: ${fault.detail}`);
}
