import { formatReview } from '../analysis/review/format_review.ts';
import { renderReview } from '../analysis/review/render_review.ts';
import type { Approval } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { Fault } from '../core/fault.ts';
import { formatId } from '../core/ids.ts';
import type { Masker } from '../core/masker.ts';
import type { Decision } from '../core/policy.ts';
import type { Review, ReviewFacts } from '../core/review.ts';
import { maskerOf } from './masking.ts';

/** What is known of a tool where a row does not say: such rows are older than reviews. */
const UNKNOWN_FACTS: ReviewFacts = {
  registered: true,
  command: null,
  pathParameters: [],
  hostParameters: [],
  workspaceRoot: null,
};

/** What approvers are shown of an action that was decided; `original` is the action first asked for. */
export function renderFor(
  actions: { canonicalAction: string; originalAction: string },
  {
    resolved,
    reviewFacts,
    secretParameters,
  }: Pick<Decision, 'resolved' | 'reviewFacts' | 'secretParameters'>,
  masker: Masker,
): Review {
  const { canonicalAction, originalAction } = actions;
  return renderReview({
    canonicalAction,
    originalAction: originalAction === canonicalAction ? null : originalAction,
    resolved,
    facts: reviewFacts,
    secretParameters,
    masker,
  });
}

/** What approvers are shown of an approval's present version. */
export function reviewOf(approval: Approval, masker: Masker): Review {
  const facts = approval.reviewFacts ?? UNKNOWN_FACTS;
  return approval.review ?? renderFor(approval, { ...approval, reviewFacts: facts }, masker);
}

/** The same as text of 80 columns, with what stands beside it. */
export function formatReviewOf(approval: Approval, masker: Masker): string {
  return formatReview(reviewOf(approval, masker), {
    ...approval,
    approvalId: formatId('approval', approval.approvalId),
    justification: approval.context.justification,
    masker,
  });
}

/** Whether a vote may count for the approval as it is shown now: it names that view, or none. */
export function isVoteForView(approval: Approval, viewHash: string | undefined, caller: Caller): boolean {
  return viewHash === undefined || viewHash === reviewOf(approval, maskerOf(caller)).view_hash;
}

/** @throws Fault `view_hash_mismatch` when a view's hash was sent and is not that of the approval's view. */
export function assertViewHash(approval: Approval, viewHash: string | undefined, caller: Caller): void {
  if (isVoteForView(approval, viewHash, caller)) return;
  throw new Fault(
    'view_hash_mismatch',
    'the view that was voted on is not what this approval shows now, so nothing was done. Read its `review`, and send that `view_hash`',
    { members: { approval_status: approval.status } },
  );
}
