import type { Child } from 'hono/jsx';
import type { Approval } from '../../../core/approval.ts';
import { parsePrincipal } from '../../../core/identifiers.ts';
import { formatId } from '../../../core/ids.ts';
import { getReadable } from '../../../operations/access.ts';
import {
  type JudgedItem,
  judgeItems,
  listQueue,
  type Queue,
  type QueueItem,
} from '../../../operations/list_queue.ts';
import { type Words, wordsFor } from '../../../operations/show_words.ts';
import { definePage, type PageInput } from '../../page.ts';
import { SECTIONS } from '../../sections.ts';
import { answerWithFragment, markSession } from '../shared/fragment.ts';
import { withQuery } from '../shared/links.ts';
import { Foreign } from '../shared/parts.tsx';
import { showMoment, When } from '../shared/when.tsx';
import { DoneRow } from './done_row.tsx';
import { bringTogether, type Count, countQueue, isWanted, numberAlike, type QueueFilter } from './order.ts';
import { QueueRow } from './queue_row.tsx';

/** Rows that are written out; of more than these those that expire last are counted, and found by the filters. */
const ROWS_MAX = 1000;
/** Rows that a script asks for at once, at the most. */
const ASKED_MAX = 50;
/** Of more identical actions than these those that a script did not ask for are left as they are. */
const ALIKE_MAX = 20;

/** All that the page is made of. */
interface QueueView {
  filter: QueueFilter;
  queue: Queue;
  wanted: readonly QueueItem[];
  rows: readonly JudgedItem[];
  gone: readonly Approval[];
  words: Words;
  csrf: string;
}

function readFilter(query: URLSearchParams): QueueFilter {
  return { agent: parsePrincipal(query.get('agent') ?? '') ?? null, tool: query.get('tool') || null };
}

/** Those of the approvals that a script asks for which wait no more. */
async function findGone(
  { deps, caller }: PageInput,
  asked: readonly string[],
  queue: Queue,
): Promise<Approval[]> {
  const waiting = new Set(queue.items.map(({ approvalId }) => formatId('approval', approvalId)));
  const found = await Promise.all(
    asked
      .filter((id) => !waiting.has(id as never))
      .map((id) => getReadable(deps, caller, id).catch(() => undefined)),
  );
  return found.filter((approval) => approval !== undefined && approval.status !== 'pending') as Approval[];
}

/** What is asked for, and the few others of the same actions: the number that is written on them may have changed. */
function withAlike(items: readonly QueueItem[], isAsked: (item: QueueItem) => boolean): QueueItem[] {
  const alike = numberAlike(items);
  const actions = new Set(items.filter(isAsked).map(({ actionHash }) => actionHash));
  const isFew = (item: QueueItem): boolean => (alike.get(item)?.of ?? 0) <= ALIKE_MAX;
  return items.filter((item) => isAsked(item) || (actions.has(item.actionHash) && isFew(item)));
}

async function readView(input: PageInput): Promise<QueueView> {
  const { deps, caller, query, csrf } = input;
  const filter = readFilter(query);
  const queue = await listQueue(deps, caller);
  const wanted = queue.items.filter((item) => isWanted(filter, item));
  const asked = query.get('rows')?.split(',').slice(0, ASKED_MAX);
  const isAsked = (item: QueueItem): boolean =>
    asked?.includes(formatId('approval', item.approvalId)) ?? true;
  const written = bringTogether(wanted.slice(0, ROWS_MAX));
  const rows = await judgeItems(deps, caller, withAlike(written, isAsked));
  return {
    ...{ filter, queue, wanted, rows },
    gone: asked === undefined ? [] : await findGone(input, asked, queue),
    words: wordsFor(caller),
    csrf,
  };
}

function Chips({
  title,
  counts,
  chosen,
  hrefOf,
  words,
}: {
  title: string;
  counts: readonly Count[];
  chosen: string | null;
  hrefOf: (name: string | null) => string;
  words: Words;
}) {
  return (
    <nav class="chips" aria-label={title}>
      <span class="muted">{title}</span>
      <ul>
        <li>
          <a class="chip" href={hrefOf(null)} {...(chosen === null && { 'aria-current': 'true' })}>
            all
          </a>
        </li>
        {counts.map(({ name, count }) => (
          <li>
            <a class="chip" href={hrefOf(name)} {...(chosen === name && { 'aria-current': 'true' })}>
              <Foreign words={words} text={name} /> <span class="count">{count}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Empty({ view: { filter, queue } }: { view: QueueView }) {
  if (queue.items.length > 0) {
    return (
      <p class="empty">
        Nothing of this {filter.agent === null ? 'tool' : 'agent'} waits for a decision; {queue.items.length}{' '}
        of others do.
      </p>
    );
  }
  return (
    <p class="empty">
      Nothing waits for a decision.{' '}
      {queue.lastDecidedAt === null ? (
        <>Nothing has been decided yet.</>
      ) : (
        <>
          Last decided <When at={queue.lastDecidedAt} />.
        </>
      )}
    </p>
  );
}

function Summary({ view }: { view: QueueView }) {
  const { filter, queue, wanted, words } = view;
  const { agents, tools } = countQueue(queue, filter);
  const total = queue.items.length;
  const hidden = wanted.length - Math.min(wanted.length, ROWS_MAX);
  return (
    <div id="queue-summary" data-total={String(total)}>
      <p>
        {total > 0 && (
          <>
            <strong data-testid="queue-total">{total}</strong>{' '}
            {total === 1 ? 'approval waits' : 'approvals wait'} for a decision.{' '}
            {wanted.length < total && <>{wanted.length} of them are shown.</>}
          </>
        )}
      </p>
      {hidden > 0 && (
        <p class="notice">
          Written out are the {ROWS_MAX} that expire first. {hidden} more wait: pick an agent or a tool to see
          them.
        </p>
      )}
      {wanted.length === 0 && <Empty view={view} />}
      {total > 0 && (
        <>
          <Chips
            {...{ title: 'Agents', counts: agents, chosen: filter.agent, words }}
            hrefOf={(agent) => withQuery('/console', { tool: filter.tool, agent })}
          />
          <Chips
            {...{ title: 'Tools', counts: tools, chosen: filter.tool, words }}
            hrefOf={(tool) => withQuery('/console', { agent: filter.agent, tool })}
          />
        </>
      )}
      <p class="muted">
        As of <span id="as-of">{showMoment(queue.readAt)}</span>.{' '}
        <a href={withQuery('/console', { ...filter })}>Look again</a>
      </p>
    </div>
  );
}

function Rows({
  id,
  title,
  view,
  list,
  children,
}: {
  id: string;
  title: string;
  view: QueueView;
  list: 'mine' | 'others';
  children?: Child;
}) {
  const { rows, wanted, queue, words } = view;
  const alike = numberAlike(wanted);
  const ofList = rows.filter(({ verdict }) => (verdict.kind === 'can') === (list === 'mine'));
  return (
    <section id={id} aria-labelledby={`${id}-title`} hidden={ofList.length === 0}>
      <h2 id={`${id}-title`}>
        {title} <span class="count">{ofList.length}</span>
      </h2>
      <ol class="asks" data-list={list}>
        {ofList.map((judged) => (
          <QueueRow
            {...{ judged, words, readAt: queue.readAt }}
            alike={alike.get(judged.item) ?? { number: 1, of: 1 }}
          />
        ))}
        {children}
      </ol>
    </section>
  );
}

function QueueBody({ view }: { view: QueueView }) {
  const order = bringTogether(view.wanted).map(({ approvalId }) => formatId('approval', approvalId));
  return (
    <div id="queue" data-live="queue" data-session={markSession(view.csrf)} data-order={order.join(' ')}>
      <h1>Queue</h1>
      <p id="connection" class="muted" />
      <Summary view={view} />
      <Rows id="mine" title="Needs your vote" list="mine" view={view} />
      <Rows id="others" title="Waits for others" list="others" view={view} />
      {view.gone.length > 0 && (
        <ol id="gone">
          {view.gone.map((approval) => (
            <DoneRow approval={approval} words={view.words} />
          ))}
        </ol>
      )}
    </div>
  );
}

export const queuePage = definePage({
  method: 'get',
  path: SECTIONS.queue.path,
  operation: 'list_queue',
  roles: SECTIONS.queue.roles,
  section: 'queue',
  handle: async (input) => {
    const view = await readView(input);
    return answerWithFragment(input, {
      kind: 'html',
      title: 'Queue',
      body: <QueueBody view={view} />,
      scripts: ['keys.js', 'countdown.js', 'live_queue.js'],
    });
  },
});
