import type { Masker } from '../../core/masker.ts';
import type { Requirements } from '../../core/policy.ts';
import type { Review, ReviewLine } from '../../core/review.ts';
import { wrapText } from './columns.ts';
import { showText } from './show_text.ts';

const COLUMNS = 80;
/** Before what a line has no room for. No other line begins so. */
const CONTINUATION = '  | ';
const QUOTE = '> ';
const SECONDS_NEAR_EXPIRY = 300;

/** What stands beside a view: of the approval, not of the action, and not part of the view's hash. */
export interface ReviewSurroundings {
  approvalId: string;
  version: number;
  status: string;
  agent: string;
  owner: string | null;
  reason: string;
  determiningPolicies: readonly string[];
  requirements: Requirements;
  expiresAt: Date;
  /** When this is read, by the clock that `expiresAt` is of. */
  readAt: Date;
  actionHash: string;
  /** The agent's own words. */
  justification: string | null;
  masker: Masker;
}

/**
 * A view as plain text for a terminal: no line has more than 80 columns, and nothing is left out that the view has.
 * What begins a line is this function's own; what others wrote stands after a label, or after a mark where it goes on
 * in the next line, so that it cannot pass for a line of its own. The agent's own words come last, every line of them
 * behind `>`.
 */
export function formatReview(review: Review, beside: ReviewSurroundings): string {
  const { warnings, lines } = review;
  const count = warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`;
  return [
    ...formatHead(beside),
    '',
    warnings.length === 0 ? 'No warnings' : count.toUpperCase(),
    ...warnings.flatMap(({ code, path, text }) =>
      wrap(`! ${code}${path === null ? '' : ` ${path}`}: ${text}`),
    ),
    '',
    'What would run',
    ...lines.flatMap(formatLine),
    '',
    `What is approved, by its hashes (view version ${review.view_version})`,
    `action_hash: ${beside.actionHash}`,
    `view_hash: ${review.view_hash}`,
    ...formatJustification(beside),
    '',
  ].join('\n');
}

function wrap(text: string): string[] {
  return wrapText(text, COLUMNS, CONTINUATION);
}

/** Words of others, fit to be shown. */
function show(text: string, masker: Masker): string {
  return showText(masker.maskText(text), { mayRunLeft: false, isToken: false }).text;
}

function formatHead(beside: ReviewSurroundings): string[] {
  const { approvalId, version, status, agent, owner, reason, determiningPolicies, masker } = beside;
  const policies = determiningPolicies.length === 0 ? [] : [`policies: ${determiningPolicies.join(', ')}`];
  return [
    `Approval ${approvalId}, version ${version}`,
    `status: ${status}`,
    `agent: ${agent}${owner === null ? '' : `, owned by ${owner}`}`,
    `reason: ${reason}`,
    ...policies,
    `needs: ${describeRequirements(beside.requirements)}`,
    `expires: ${describeExpiry(beside)}`,
  ].flatMap((line) => wrap(show(line, masker)));
}

function describeRequirements({ votes, groups, signature }: Requirements): string {
  const number = votes === 1 ? '1 vote' : `${votes} votes`;
  const whose = groups.length === 0 ? '' : `, one each of ${groups.join(', ')}`;
  return `${number}${whose}${signature === 'none' ? '' : ', signed with a passkey'}`;
}

function describeExpiry({ status, expiresAt, readAt }: ReviewSurroundings): string {
  const at = expiresAt.toISOString();
  const seconds = Math.floor((expiresAt.getTime() - readAt.getTime()) / 1000);
  const isNear = (status === 'pending' || status === 'approved') && seconds <= SECONDS_NEAR_EXPIRY;
  return isNear ? `${at}, SOON: in ${Math.max(seconds, 0)} seconds` : at;
}

function formatLine({ kind, label, text, folded }: ReviewLine): string[] {
  const name = label === kind || label.startsWith(`${kind} `) ? label : `${kind} ${label}`;
  const lines = wrap(`${name}: ${text}`);
  if (folded === null) return lines;
  return [...lines, `  = ${folded.length} characters in full, of SHA-256`, `  = ${folded.sha256}`];
}

function formatJustification({ justification, masker }: ReviewSurroundings): string[] {
  if (justification === null) return [];
  return [
    '',
    "The agent's own words: not checked, and no part of what is approved",
    ...wrapText(QUOTE + show(justification, masker), COLUMNS, QUOTE),
  ];
}
