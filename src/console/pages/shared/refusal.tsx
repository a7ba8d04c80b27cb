import { Fault, type FaultCode } from '../../../core/fault.ts';
import { statusOf } from '../../../http/problem.ts';
import type { HtmlAnswer } from '../../page.ts';
import { Prose } from '../../prose.tsx';

/** A form that did nothing: what stood in the way, and where it is wrong. */
export interface Refusal {
  code: FaultCode;
  text: string;
  issues: readonly { pointer: string; reason: string }[];
}

/** What faults mean to who sits before a page; the API's own words speak of headers and hashes. */
const TEXTS: Partial<Record<FaultCode, string>> = {
  stale_version: 'the approval has changed since you were shown it. Below is what it is now',
  view_hash_mismatch:
    'what would run is shown otherwise than when you were shown it. Below is what it is now',
  action_hash_mismatch: 'this is another action than the one you were shown. Below is what it is now',
  precondition_required: 'the approval was edited. Look at what it is now, then decide',
  approval_already_decided: 'it was decided before. Below is by whom',
  approval_already_consumed: 'it was approved and used before',
  approval_expired: 'its time was over. The agent may ask anew',
  approval_voided: 'it was voided. The agent may ask anew',
  policy_changed:
    'policy has changed since this was asked, and it does not hold under the new rules: it was voided',
};

const SIGNED_UNDER_OTHER_RULES =
  'policy has changed since you signed, and your signature does not count under the new rules. Below is what it is now';

/** The faults that a form is shown again with; others are pages of their own. */
const SHOWN: ReadonlySet<number> = new Set([400, 403, 409, 410, 412, 422, 428]);

/** What to tell of a form that did nothing. @throws what is no such fault. */
export function toRefusal(error: unknown): Refusal {
  if (!(error instanceof Fault) || !SHOWN.has(statusOf(error))) throw error;
  const isOpen = error.code === 'policy_changed' && error.members.approval_status === 'pending';
  const text = isOpen ? SIGNED_UNDER_OTHER_RULES : TEXTS[error.code];
  return { code: error.code, text: text ?? error.detail, issues: error.issues ?? [] };
}

/** The status of the page that says so. */
export function statusOfRefusal(refusal: Refusal | null): NonNullable<HtmlAnswer['status']> {
  if (refusal === null) return 200;
  const status = statusOf(new Fault(refusal.code, refusal.text));
  return status === 428 ? 412 : (status as NonNullable<HtmlAnswer['status']>);
}

/** Says first of all that nothing was done. `nothing` is what was not done, as a sentence without its full stop. */
export function RefusalNote({ refusal, nothing }: { refusal: Refusal; nothing: string }) {
  return (
    <section class="alert" role="alert" id="refusal" tabindex={-1}>
      <h2>{nothing}</h2>
      <p>
        <Prose text={refusal.text} />
      </p>
      {refusal.issues.length > 0 && (
        <ul>
          {refusal.issues.map(({ pointer, reason }) => (
            <li>
              <code>{pointer === '' ? '/' : pointer}</code> {reason}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
