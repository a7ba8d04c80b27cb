import type { Approval, ApprovalStatus } from '../../../core/approval.ts';
import { formatId } from '../../../core/ids.ts';
import type { Words } from '../../../operations/show_words.ts';
import { approvalPath } from '../shared/links.ts';
import { Foreign } from '../shared/parts.tsx';
import { When } from '../shared/when.tsx';
import { rowId } from './queue_row.tsx';

const BECAME: Readonly<Record<ApprovalStatus, string>> = {
  pending: 'waits',
  approved: 'approved',
  consumed: 'used, approved',
  rejected: 'rejected',
  cancelled: 'taken back',
  expired: 'expired',
  voided: 'voided',
};

/** An approval that waits no more, in the place that it had: it says what became of it. */
export function DoneRow({ approval, words }: { approval: Approval; words: Words }) {
  const { approvalId, resolved, status, decidedBy, decidedAt } = approval;
  // What expired or was voided after a yes did so by itself.
  const isByPerson = decidedBy !== null && status !== 'expired' && status !== 'voided';
  return (
    <li
      id={rowId(approvalId)}
      class="ask done"
      data-approval={formatId('approval', approvalId)}
      data-list="done"
    >
      <h3>
        <a class="row-link" href={approvalPath(approvalId)}>
          <Foreign words={words} text={resolved.tool} /> <span class="muted">·</span>{' '}
          <Foreign words={words} text={resolved.action} />
        </a>
      </h3>
      <p class="ask-done">
        {BECAME[status]}
        {isByPerson && <> by {decidedBy}</>}
        {isByPerson && decidedAt !== null && (
          <>
            , <When at={decidedAt} />
          </>
        )}
      </p>
    </li>
  );
}
