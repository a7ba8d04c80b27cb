import type { ToolCall } from '../core/action.ts';
import { type Approval, assertState, assertVersion } from '../core/approval.ts';
import type { ApprovalChange, LockedApproval } from '../core/approval_ports.ts';
import type { Caller } from '../core/caller.ts';
import { canonicalAction } from '../core/canonical_action.ts';
import { canonicalize } from '../core/canonical_json.ts';
import { sha256Hex } from '../core/digest.ts';
import { Fault, type FaultIssue } from '../core/fault.ts';
import { parseToolCall } from '../core/parse_tool_call.ts';
import type { PolicySet } from '../core/policy.ts';
import { restoreSecrets } from '../core/restore_secrets.ts';
import { assertLockedReadable, parseApprovalId } from './access.ts';
import type { Deps } from './deps.ts';
import { shortenExpiry } from './drift.ts';
import { maskerOf, maskWords } from './masking.ts';
import { assertPermitted, redecide } from './redecide.ts';
import { renderFor } from './review.ts';
import { termsOf } from './terms.ts';
import { transitionByRules } from './transition.ts';

export interface EditInput {
  toolCall: ToolCall;
  reason: string | undefined;
  ifMatch: number | undefined;
}

/** Only the parameters may differ, and they must: anything else is another action, to be asked for anew. */
function assertOnlyParametersDiffer(present: ToolCall, edited: ToolCall): void {
  const issues: FaultIssue[] = (['tool', 'action', 'resource', 'mutates_state'] as const)
    .filter((member) => present[member] !== edited[member])
    .map((member) => ({ pointer: `/tool_call/${member}`, reason: 'an edit may change `parameters` only' }));
  if (issues.length === 0 && canonicalize(present.parameters) === canonicalize(edited.parameters)) {
    issues.push({ pointer: '/tool_call/parameters', reason: 'the parameters are those it has already' });
  }
  if (issues.length === 0) return;
  throw new Fault(
    'invalid_request',
    'an edit sends the whole `tool_call` with other `parameters`. See `errors`',
    { issues },
  );
}

function judge(
  policy: PolicySet,
  caller: Caller,
  locked: LockedApproval,
  input: EditInput,
): ApprovalChange[] {
  const { approval } = locked;
  assertState(approval, 'decide');
  assertVersion(approval, input.ifMatch);
  const present = parseToolCall(approval.canonicalAction);
  const edited = restoreSecrets(input.toolCall, present, approval.secretParameters, maskerOf(caller));
  assertOnlyParametersDiffer(present, edited);
  assertPermitted(policy, approval, 'edit', caller);
  const decision = redecide(policy, locked, edited);
  const terms = termsOf(decision);
  if (terms === undefined) {
    throw new Fault(
      'edit_denied_by_policy',
      `policy denies the edited action: ${decision.reason}. The approval stays as it was`,
      { members: { approval_status: approval.status, determining_policies: decision.determiningPolicies } },
    );
  }
  const text = canonicalAction(edited);
  return [
    {
      kind: 'edit',
      reason: maskWords(caller, input.reason),
      canonicalAction: text,
      actionHash: sha256Hex(text),
      terms,
      decision,
      expiresAt: shortenExpiry(approval.readAt, terms.ttlSeconds, approval.expiresAt),
      review: renderFor(
        { canonicalAction: text, originalAction: approval.originalAction },
        decision,
        maskerOf(caller),
      ),
    },
  ];
}

/**
 * Replaces the parameters of a pending approval. The edited action is frozen and decided anew; earlier votes no
 * longer count, and whoever edits is barred from approving (NO SELF-APPROVAL).
 * @throws Fault in the contract's order of checks; `edit_denied_by_policy`.
 */
export function edit(deps: Deps, caller: Caller, id: string, input: EditInput): Promise<Approval> {
  return transitionByRules(deps, caller, parseApprovalId(id), (policy, locked, editor) =>
    judge(policy, editor, assertLockedReadable(locked, caller), input),
  );
}
