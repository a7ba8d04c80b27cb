import type { Approval } from '../../../core/approval.ts';
import type { Caller } from '../../../core/caller.ts';
import type { Review } from '../../../core/review.ts';
import type { PolicyTexts } from '../../../core/rules.ts';
import { showActions, type VisibleActions } from '../../../core/secret_values.ts';
import { type Confirmation, findConfirmation } from '../../../operations/confirmation.ts';
import { type Decidability, getDecidability } from '../../../operations/decidability.ts';
import { maskerOf } from '../../../operations/masking.ts';
import { recordShown } from '../../../operations/record_shown.ts';
import { reviewOf } from '../../../operations/review.ts';
import { getPolicies } from '../../../operations/rules/get_policies.ts';
import { type Words, wordsFor } from '../../../operations/show_words.ts';
import { listPasskeys } from '../../../operations/webauthn/list_passkeys.ts';
import type { PageInput } from '../../page.ts';
import type { Refusal } from '../shared/refusal.tsx';

export type FormName = 'approve' | 'reject' | 'edit' | 'cancel';

/** A form that was sent and did nothing, with what was typed into it: nothing of that is lost. */
export interface SentForm {
  name: FormName;
  refusal: Refusal;
  typed: ReadonlyMap<string, string>;
}

/** All that the page of one approval is made of. */
export interface ApprovalView {
  approval: Approval;
  /** As the caller may see them. */
  actions: VisibleActions;
  review: Review;
  decidability: Decidability;
  confirmation: Confirmation | null;
  /** Whether the caller has a passkey to sign a vote with. */
  hasPasskey: boolean;
  /** The policies in force; null for who may not read them. */
  policies: PolicyTexts | null;
  caller: Caller;
  words: Words;
  csrf: string;
  sent: SentForm | null;
  /** Whether the page is what follows a form, of which it then says what became. */
  follows: boolean;
}

async function readPolicyTexts({ deps, caller }: PageInput): Promise<PolicyTexts | null> {
  if (!caller.roles.includes('operator')) return null;
  const { base, tenant } = await getPolicies(deps, caller);
  return { ...base, ...tenant };
}

/** What is shown of an approval that was read for the caller; that it was shown is kept. */
export async function toView(
  input: PageInput,
  approval: Approval,
  sent: SentForm | null,
): Promise<ApprovalView> {
  const { deps, caller, csrf, query } = input;
  const [decidability, policies, passkeys] = await Promise.all([
    getDecidability(deps, caller, approval),
    readPolicyTexts(input),
    listPasskeys(deps, caller),
    recordShown(deps, caller, approval),
  ]);
  const masker = maskerOf(caller);
  return {
    approval,
    actions: showActions(approval, caller.principal, masker),
    review: reviewOf(approval, masker),
    decidability,
    confirmation: findConfirmation(approval, caller),
    hasPasskey: passkeys.length > 0,
    policies,
    caller,
    words: wordsFor(caller),
    csrf,
    sent,
    follows: query.has('after'),
  };
}
