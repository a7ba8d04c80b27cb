import { readTimeline, type Timeline } from '../../../operations/agent_timeline.ts';
import { findResumeObstacle } from '../../../operations/list_paused.ts';
import { type Words, wordsFor } from '../../../operations/show_words.ts';
import { definePage, type HtmlAnswer, type PageInput } from '../../page.ts';
import { GrantTable } from '../grants/grants_page.tsx';
import { PAGE_SIZE, readCursor, toCursor } from '../shared/cursor.ts';
import { agentPath, approvalPath, fromSegment, sessionPath, withQuery } from '../shared/links.ts';
import { Facts, Foreign, ForeignBlock, NextPage, StatusBadge } from '../shared/parts.tsx';
import { ResumeButton } from '../shared/resume_button.tsx';
import { When } from '../shared/when.tsx';
import { type Entry, toEntries } from './entries.ts';

interface TimelineView {
  timeline: Timeline;
  entries: readonly Entry[];
  /** Why the reader cannot lift the pauses. */
  obstacles: { agent: string | null; session: string | null };
  words: Words;
  csrf: string;
}

function Pause({ view: { timeline, obstacles, csrf } }: { view: TimelineView }) {
  const { agent, sessionId, agentPausedAt, session } = timeline;
  const pausedAt = session?.pausedAt ?? null;
  if (agentPausedAt === null && pausedAt === null) return <p class="muted">Nothing here is paused.</p>;
  return (
    <section class="notice" aria-labelledby="pause-title">
      <h2 id="pause-title">Paused</h2>
      {agentPausedAt !== null && (
        <>
          <p>
            The whole agent since <When at={agentPausedAt} />: every ask of it is denied.
          </p>
          <ResumeButton
            {...{ agent, sessionId: null, obstacle: obstacles.agent, csrf, id: 'resume-agent' }}
          />
        </>
      )}
      {pausedAt !== null && (
        <>
          <p>
            This session since <When at={pausedAt} />: every ask in it is denied.
          </p>
          <ResumeButton {...{ agent, sessionId, obstacle: obstacles.session, csrf, id: 'resume-session' }} />
        </>
      )}
    </section>
  );
}

function EntryItem({
  entry: { at, what, approval, said },
  agent,
  words,
}: {
  entry: Entry;
  agent: string;
  words: Words;
}) {
  const session = approval?.context.session_id ?? null;
  return (
    <li>
      <When at={at} /> {words.line(what)}
      {approval !== null && (
        <>
          {': '}
          <a class="row-link" href={approvalPath(approval.approvalId)}>
            <Foreign words={words} text={approval.resolved.tool} /> ·{' '}
            <Foreign words={words} text={approval.resolved.action} />
          </a>{' '}
          <StatusBadge status={approval.status} />
        </>
      )}
      {session !== null && (
        <>
          {' session '}
          <a href={sessionPath(agent, session)}>
            <Foreign words={words} text={session} />
          </a>
        </>
      )}
      {said !== null && <ForeignBlock words={words} text={said} />}
    </li>
  );
}

function Head({ view: { timeline, words } }: { view: TimelineView }) {
  const { agent, sessionId, session } = timeline;
  if (sessionId === null) return <h1>Agent {agent}</h1>;
  return (
    <>
      <h1>
        Session <Foreign words={words} text={sessionId} />
      </h1>
      <Facts
        items={[
          ['agent', <a href={agentPath(agent)}>{agent}</a>],
          ['tier', session?.tier ?? "the tenant's"],
          ['rejections', String(session?.rejections ?? 0)],
        ]}
      />
    </>
  );
}

function Body({ view, next }: { view: TimelineView; next: string | null }) {
  const { timeline, entries, words, csrf } = view;
  const { agent, sessionId, grants, denials } = timeline;
  return (
    <>
      <Head view={view} />
      <Pause view={view} />
      {grants !== null && grants.length > 0 && (
        <section aria-labelledby="grants-title">
          <h2 id="grants-title">Grants</h2>
          <GrantTable {...{ grants, words, csrf }} />
        </section>
      )}
      <section aria-labelledby="timeline-title">
        <h2 id="timeline-title">What happened, newest first</h2>
        {denials === null && <p class="muted">Operators are shown which rejections still hold as well.</p>}
        {entries.length === 0 ? (
          <p class="empty">Nothing is kept of it.</p>
        ) : (
          <ol class="timeline">
            {entries.map((entry) => (
              <EntryItem {...{ entry, agent, words }} />
            ))}
          </ol>
        )}
      </section>
      <NextPage
        href={
          next === null
            ? null
            : withQuery(sessionId === null ? agentPath(agent) : sessionPath(agent, sessionId), {
                cursor: next,
              })
        }
      />
    </>
  );
}

async function showTimeline(input: PageInput, sessionId: string | null): Promise<HtmlAnswer> {
  const { deps, caller, csrf, query, params } = input;
  const before = readCursor(query);
  const timeline = await readTimeline(deps, caller, {
    ...{ agent: fromSegment(params.agent), sessionId, limit: PAGE_SIZE, before },
  });
  const { agent } = timeline;
  const obstacleOf = (session: string | null) => findResumeObstacle(deps, caller, agent, session);
  const obstacles = {
    agent: await obstacleOf(null),
    session: sessionId === null ? null : await obstacleOf(sessionId),
  };
  const view = {
    timeline,
    entries: toEntries(timeline, before === null),
    obstacles,
    words: wordsFor(caller),
    csrf,
  };
  return {
    kind: 'html',
    title: sessionId === null ? `Agent ${agent}` : `Session ${view.words.line(sessionId)}`,
    scripts: ['keys.js'],
    body: <Body view={view} next={toCursor(timeline.next)} />,
  };
}

export const agentPage = definePage({
  method: 'get',
  path: '/console/agents/:agent',
  operation: 'agent_timeline',
  roles: ['approver', 'operator', 'auditor'],
  section: 'history',
  handle: (input) => showTimeline(input, null),
});

export const sessionPage = definePage({
  method: 'get',
  path: '/console/agents/:agent/sessions/:session',
  operation: 'agent_timeline',
  roles: ['approver', 'operator', 'auditor'],
  section: 'history',
  handle: (input) => showTimeline(input, fromSegment(input.params.session)),
});
