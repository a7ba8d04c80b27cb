import { type ApprovalStatus, STATE_TABLE } from '../../../core/approval.ts';
import { findUnsafeText, parsePrincipal } from '../../../core/identifiers.ts';
import { gistOf } from '../../../operations/gist.ts';
import { listApprovals } from '../../../operations/list_approvals.ts';
import { maskerOf } from '../../../operations/masking.ts';
import { reviewOf } from '../../../operations/review.ts';
import { wordsFor } from '../../../operations/show_words.ts';
import { definePage } from '../../page.ts';
import { SECTIONS } from '../../sections.ts';
import { ApprovalTable } from '../shared/approval_table.tsx';
import { PAGE_SIZE, readCursor, toCursor } from '../shared/cursor.ts';
import { withQuery } from '../shared/links.ts';
import { NextPage, STATUS_WORDS } from '../shared/parts.tsx';

const STATUSES = Object.keys(STATE_TABLE) as ApprovalStatus[];

interface Filter {
  status: ApprovalStatus | null;
  /** As they were typed; what can name none matches nothing. */
  agent: string;
  tool: string;
  outcomeMissing: boolean;
}

function readFilter(query: URLSearchParams): Filter {
  return {
    status: STATUSES.find((status) => status === query.get('status')) ?? null,
    agent: (query.get('agent') ?? '').trim(),
    tool: (query.get('tool') ?? '').trim().toLowerCase(),
    outcomeMissing: query.get('outcome') === 'missing',
  };
}

function toMembers({ status, agent, tool, outcomeMissing }: Filter) {
  return { status, agent, tool, outcome: outcomeMissing ? 'missing' : null };
}

function FilterForm({ filter: { status, agent, tool, outcomeMissing } }: { filter: Filter }) {
  return (
    <form method="get" action="/console/history" class="filters" aria-label="Filter">
      <p class="field">
        <label for="status">Status</label>
        <select id="status" name="status">
          <option value="">any</option>
          {STATUSES.map((one) => (
            <option value={one} selected={one === status}>
              {STATUS_WORDS[one]}
            </option>
          ))}
        </select>
      </p>
      <p class="field">
        <label for="agent">Agent</label>
        <input id="agent" name="agent" value={agent} autocapitalize="off" />
      </p>
      <p class="field">
        <label for="tool">Tool</label>
        <input id="tool" name="tool" value={tool} autocapitalize="off" />
      </p>
      <p class="choice">
        <input type="checkbox" id="outcome" name="outcome" value="missing" checked={outcomeMissing} />
        <label for="outcome">used, no outcome reported</label>
      </p>
      <p>
        <button type="submit" class="button">
          Show
        </button>
      </p>
    </form>
  );
}

export const historyPage = definePage({
  method: 'get',
  path: SECTIONS.history.path,
  operation: 'list_approvals',
  roles: SECTIONS.history.roles,
  section: 'history',
  handle: async ({ deps, caller, query }) => {
    const filter = readFilter(query);
    const agent = filter.agent === '' ? null : parsePrincipal(filter.agent);
    const page =
      agent === undefined || findUnsafeText(filter.tool) !== undefined
        ? { items: [], next: null }
        : await listApprovals(deps, caller, {
            ...filter,
            ...{ agent, tool: filter.tool || null, limit: PAGE_SIZE, before: readCursor(query) },
          });
    const next = toCursor(page.next);
    const masker = maskerOf(caller);
    return {
      kind: 'html',
      title: 'History',
      scripts: ['keys.js'],
      body: (
        <>
          <h1>History</h1>
          <FilterForm filter={filter} />
          {page.items.length === 0 ? (
            <p class="empty">No approval is so.</p>
          ) : (
            <ApprovalTable
              caption="Approvals, newest first"
              approvals={page.items}
              gistOf={(approval) => gistOf(reviewOf(approval, masker))}
              words={wordsFor(caller)}
            />
          )}
          <NextPage
            href={
              next === null ? null : withQuery('/console/history', { ...toMembers(filter), cursor: next })
            }
          />
        </>
      ),
    };
  },
});
