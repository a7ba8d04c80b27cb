import type { Approval } from '../../../core/approval.ts';
import type { Gist } from '../../../operations/gist.ts';
import type { Words } from '../../../operations/show_words.ts';
import { GistLines } from './gist_lines.tsx';
import { agentPath, approvalPath } from './links.ts';
import { ListTable } from './list_table.tsx';
import { Foreign, StatusBadge } from './parts.tsx';
import { When } from './when.tsx';

function Outcome({ approval: { status, outcome } }: { approval: Approval }) {
  if (outcome !== null) return <>{outcome.outcome}</>;
  return status === 'consumed' ? <span class="why">not reported</span> : <>–</>;
}

/** Approvals, one a row, each with a link to the whole. */
export function ApprovalTable({
  caption,
  approvals,
  gistOf,
  words,
}: {
  caption: string;
  approvals: readonly Approval[];
  gistOf: (approval: Approval) => Gist;
  words: Words;
}) {
  return (
    <ListTable
      caption={caption}
      columns={['Action', 'What', 'Agent', 'Status', 'Asked', 'Decided by', 'Outcome']}
    >
      {approvals.map((approval) => (
        <tr>
          <th scope="row" data-label="Action">
            <a class="row-link" href={approvalPath(approval.approvalId)}>
              <Foreign words={words} text={approval.resolved.tool} /> ·{' '}
              <Foreign words={words} text={approval.resolved.action} />
            </a>
          </th>
          <td data-label="What">
            <GistLines gist={gistOf(approval)} />
          </td>
          <td data-label="Agent">
            <a href={agentPath(approval.agent)}>{approval.agent}</a>
          </td>
          <td data-label="Status">
            <StatusBadge status={approval.status} />
          </td>
          <td data-label="Asked">
            <When at={approval.createdAt} />
          </td>
          <td data-label="Decided by">{approval.decidedBy ?? '–'}</td>
          <td data-label="Outcome">
            <Outcome approval={approval} />
          </td>
        </tr>
      ))}
    </ListTable>
  );
}
