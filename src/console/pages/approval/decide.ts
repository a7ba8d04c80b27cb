import { type Approval, assertVersion } from '../../../core/approval.ts';
import type { Caller } from '../../../core/caller.ts';
import type { FaultCode } from '../../../core/fault.ts';
import { showActions } from '../../../core/secret_values.ts';
import { getReadable } from '../../../operations/access.ts';
import { approve } from '../../../operations/approve.ts';
import { guardAttempts } from '../../../operations/attempts.ts';
import { cancel } from '../../../operations/cancel.ts';
import { assertConfirmed } from '../../../operations/confirmation.ts';
import type { Deps } from '../../../operations/deps.ts';
import { edit } from '../../../operations/edit.ts';
import { maskerOf } from '../../../operations/masking.ts';
import { reject } from '../../../operations/reject.ts';
import { type ConsolePage, definePage, type RedirectAnswer } from '../../page.ts';
import { readAssertion } from '../passkeys/read_passkey_forms.ts';
import { approvalPath, withQuery } from '../shared/links.ts';
import { toRefusal } from '../shared/refusal.tsx';
import { showApproval } from './approval_page.tsx';
import { isDoneBefore } from './done_before.ts';
import { readParameters, readReason, readShown, readWidening } from './read_forms.ts';
import type { FormName } from './view.ts';

type Form = ReadonlyMap<string, string>;
type Decide = (deps: Deps, caller: Caller, id: string, form: Form) => Promise<Approval>;

/** What a form is refused with that was sent a second time. */
const TOO_LATE: ReadonlySet<FaultCode> = new Set([
  'approval_already_decided',
  'approval_already_consumed',
  'stale_version',
]);

/** The page that tells what became of a form. */
function toOutcome({ approvalId }: Approval, name: FormName): RedirectAnswer {
  return { kind: 'redirect', to: withQuery(approvalPath(approvalId), { after: name }) };
}

/**
 * A form of an approval's page. What it did is told by the page that follows; what stood in its way by the page itself,
 * as the approval stands now, with all that was typed.
 */
function defineForm(name: FormName, roles: ConsolePage['roles'], decide: Decide): ConsolePage {
  return definePage({
    method: 'post',
    path: `/console/approvals/:id/${name}`,
    operation: name,
    roles,
    section: 'queue',
    handle: async (input) => {
      const { deps, caller, form } = input;
      const id = input.params.id ?? '';
      try {
        const decided = await guardAttempts(deps, caller, id, () => decide(deps, caller, id, form));
        return toOutcome(decided, name);
      } catch (error) {
        const refusal = toRefusal(error);
        if (TOO_LATE.has(refusal.code)) {
          const approval = await getReadable(deps, caller, id);
          if (isDoneBefore(name, approval, caller, form)) return toOutcome(approval, name);
        }
        return showApproval(input, { name, refusal, typed: form });
      }
    },
  });
}

export const approveForm = defineForm('approve', ['approver'], async (deps, caller, id, form) => {
  const shown = readShown(form);
  const [reason, widening] = [readReason(form), readWidening(form)];
  const signature = readAssertion(form, 'signature');
  const approval = await getReadable(deps, caller, id);
  // What is confirmed is what was shown: another version may destroy something else.
  assertVersion(approval, shown.ifMatch);
  assertConfirmed(approval, caller, form.get('confirm') ?? '');
  return approve(deps, caller, id, { ...shown, actionHash: undefined, reason, widening, signature });
});

export const rejectForm = defineForm('reject', ['approver'], (deps, caller, id, form) =>
  reject(deps, caller, id, {
    ...readShown(form),
    reason: readReason(form),
    signature: readAssertion(form, 'signature'),
  }),
);

export const editForm = defineForm('edit', ['approver'], async (deps, caller, id, form) => {
  const { ifMatch } = readShown(form);
  const [parameters, reason] = [readParameters(form), readReason(form)];
  const approval = await getReadable(deps, caller, id);
  assertVersion(approval, ifMatch);
  const { current } = showActions(approval, caller.principal, maskerOf(caller));
  return edit(deps, caller, id, { toolCall: { ...current, parameters }, reason, ifMatch });
});

export const cancelForm = defineForm('cancel', ['approver', 'operator'], (deps, caller, id, form) =>
  cancel(deps, caller, id, { ifMatch: readShown(form).ifMatch, reason: readReason(form) }),
);
