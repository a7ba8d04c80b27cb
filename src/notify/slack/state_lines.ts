import type { ApprovalStatus, VoidReason } from '../../core/approval.ts';
import type { SlackNotice } from '../../core/slack_ports.ts';
import {
  fence,
  formatInstant,
  line,
  quote,
  quoteAll,
  type RichElement,
  type Run,
  say,
  stress,
} from './elements.ts';

const TITLES: Readonly<Record<ApprovalStatus, string>> = {
  pending: 'Approval requested',
  approved: 'Approved',
  rejected: 'Rejected',
  cancelled: 'Taken back',
  expired: 'Expired',
  voided: 'Voided',
  consumed: 'Approved and used',
};

const VOID_REASONS: Readonly<Record<VoidReason, string>> = {
  policy: 'other rules are in force by now',
  key_revoked: 'a key that it rested on was revoked',
  agent_frozen: 'the agent was frozen',
};

/** What has become of an approval, in a few words. */
export function titleOf({ status, edits }: SlackNotice): string {
  return status === 'pending' && edits.length > 0 ? 'Approval requested, edited' : TITLES[status];
}

function countVotes(count: number): string {
  return count === 1 ? '1 vote' : `${count} votes`;
}

function describeNeeds({ needs, missing, expiresAt }: SlackNotice): Run[] {
  const ofGroups = needs.groups.length === 0 ? [] : [say(', one each of '), ...quoteAll(needs.groups)];
  const open = missing.groups.length === 0 ? [] : [say(', of '), ...quoteAll(missing.groups)];
  return [
    say(`Needs ${countVotes(needs.votes)}`),
    ...ofGroups,
    say(`${needs.isSigned ? ', signed with a passkey' : ''}. Missing: `),
    stress(countVotes(missing.votes)),
    ...open,
    say('. Expires '),
    stress(formatInstant(expiresAt)),
  ];
}

function describeDecision(verb: string, { decidedBy, decidedAt }: SlackNotice): Run[] {
  const by = decidedBy === null ? [] : [say(' by '), quote(decidedBy)];
  const at = decidedAt === null ? [] : [say(` at ${formatInstant(decidedAt)}`)];
  return [stress(verb), ...by, ...at];
}

function describeState(notice: SlackNotice): Run[] {
  const { status, decidedAt, consumedAt, expiresAt, voidReason } = notice;
  const wasApproved = decidedAt === null ? [] : [...describeDecision('Approved', notice), say('. ')];
  switch (status) {
    case 'pending':
      return describeNeeds(notice);
    case 'approved':
      return [...wasApproved, say(`It may be used until ${formatInstant(expiresAt)}`)];
    case 'rejected':
      return describeDecision('Rejected', notice);
    case 'cancelled':
      return decidedAt === null
        ? [stress('Taken back'), say(': whoever waited for the answer is gone')]
        : describeDecision('Taken back', notice);
    case 'expired': {
      const how = decidedAt === null ? 'before it was decided' : 'before it was used';
      return [...wasApproved, stress('Expired'), say(` at ${formatInstant(expiresAt)}, ${how}`)];
    }
    case 'voided': {
      const why = voidReason === null ? '' : `: ${VOID_REASONS[voidReason]}`;
      return [...wasApproved, stress('Voided'), say(`${why}. It cannot be used`)];
    }
    case 'consumed': {
      const at = consumedAt === null ? '' : ` at ${formatInstant(consumedAt)}`;
      return [...wasApproved, stress('Used'), say(at)];
    }
  }
}

/** How an approval stands: what it needs or who decided it, and every vote that counts. */
export function stateLines(notice: SlackNotice): RichElement[] {
  const votes = notice.votes.map(({ approver, decision, at }) =>
    line(quote(approver), say(` voted to ${decision} at ${formatInstant(at)}`)),
  );
  return [line(...describeState(notice)), ...votes];
}

/** Why it was decided so, and what was said with each vote and edit, in the people's own words. */
export function wordsOfPeople(notice: SlackNotice): RichElement[][] {
  const { decidedBy, decisionReason } = notice;
  const decided = decisionReason === null ? [] : [[line(stress('Reason given')), fence(decisionReason)]];
  // The vote that decided says the same.
  const votes = notice.votes.filter(
    ({ approver, reason }) => approver !== decidedBy || reason !== decisionReason,
  );
  const ofVotes = votes.flatMap(({ approver, reason }) =>
    reason === null ? [] : [[line(quote(approver), say(' says')), fence(reason)]],
  );
  const ofEdits = notice.edits.map(({ editor, at, reason }) => [
    line(quote(editor), say(` edited it at ${formatInstant(new Date(at))}`)),
    ...(reason === null ? [] : [fence(reason)]),
  ]);
  return [...decided, ...ofEdits, ...ofVotes];
}
