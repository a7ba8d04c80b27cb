import type { Approval, Vote } from '../../../core/approval.ts';
import { readWidening } from './read_forms.ts';
import type { FormName } from './view.ts';

type Form = ReadonlyMap<string, string>;

function isAsWide(vote: Vote, form: Form): boolean {
  const { scope, windowSeconds, maxUses } = readWidening(form);
  return vote.scope === scope && vote.windowSeconds === windowSeconds && vote.maxUses === maxUses;
}

/**
 * Whether a form that came too late asks for no more than its sender has done before: it was sent twice, by a double
 * click or by loading the answer again. Then the page must not say that nothing was done.
 */
export function isDoneBefore(name: FormName, approval: Approval, principal: string, form: Form): boolean {
  const { status, decidedBy, version, votes } = approval;
  if (name === 'cancel') return status === 'cancelled' && decidedBy === principal;
  if (name === 'edit' || form.get('version') !== String(version)) return false;
  const own = votes.find(({ approver, decision }) => approver === principal && decision === name);
  return own !== undefined && (name === 'reject' || isAsWide(own, form));
}
