import type { Approval, Vote } from '../../../core/approval.ts';
import type { Caller } from '../../../core/caller.ts';
import { canonicalize } from '../../../core/canonical_json.ts';
import { showActions } from '../../../core/secret_values.ts';
import { maskerOf } from '../../../operations/masking.ts';
import { readParameters, readWidening } from './read_forms.ts';
import type { FormName } from './view.ts';

type Form = ReadonlyMap<string, string>;

function isAsWide(vote: Vote, form: Form): boolean {
  const { scope, windowSeconds, maxUses } = readWidening(form);
  return vote.scope === scope && vote.windowSeconds === windowSeconds && vote.maxUses === maxUses;
}

/** Whether the caller's edit of that version made the parameters what the form has. */
function isEditedSo(approval: Approval, caller: Caller, form: Form): boolean {
  const { version, edits } = approval;
  if (form.get('version') !== String(version - 1) || edits.at(-1)?.editor !== caller.principal) return false;
  const { current } = showActions(approval, caller.principal, maskerOf(caller));
  return canonicalize(current.parameters) === canonicalize(readParameters(form));
}

/**
 * Whether a form that came too late asks for no more than its sender has done before: it was sent twice, by a double
 * click or by loading the answer again. Then the page must not say that nothing was done.
 */
export function isDoneBefore(name: FormName, approval: Approval, caller: Caller, form: Form): boolean {
  const { status, decidedBy, version, votes } = approval;
  const { principal } = caller;
  if (name === 'cancel') return status === 'cancelled' && decidedBy === principal;
  if (name === 'edit') return isEditedSo(approval, caller, form);
  if (form.get('version') !== String(version)) return false;
  const own = votes.find(({ approver, decision }) => approver === principal && decision === name);
  return own !== undefined && (name === 'reject' || isAsWide(own, form));
}
