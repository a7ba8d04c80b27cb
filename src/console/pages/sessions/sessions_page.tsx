import type { Pauses } from '../../../core/agent_ports.ts';
import { findResumeObstacle, listPaused } from '../../../operations/list_paused.ts';
import { resumeAgent } from '../../../operations/resume_agent.ts';
import { resumeSession } from '../../../operations/resume_session.ts';
import { wordsFor } from '../../../operations/show_words.ts';
import { definePage, type PageInput } from '../../page.ts';
import { SECTIONS } from '../../sections.ts';
import { agentPath, fromSegment, sessionPath } from '../shared/links.ts';
import { ListTable } from '../shared/list_table.tsx';
import { Foreign } from '../shared/parts.tsx';
import { ResumeButton } from '../shared/resume_button.tsx';
import { When } from '../shared/when.tsx';

/** One thing that is paused: a session, or a whole agent. */
interface Paused {
  agent: string;
  sessionId: string | null;
  rejections: number | null;
  pausedAt: Date;
  obstacle: string | null;
}

async function toPaused({ deps, caller }: PageInput, { agents, sessions }: Pauses): Promise<Paused[]> {
  const all = [...agents.map((paused) => ({ ...paused, sessionId: null, rejections: null })), ...sessions];
  return Promise.all(
    all.map(async ({ agent, sessionId, rejections, pausedAt }) => ({
      ...{ agent, sessionId, rejections, pausedAt },
      obstacle: await findResumeObstacle(deps, caller, agent, sessionId),
    })),
  );
}

function PausedTable({ paused, input }: { paused: readonly Paused[]; input: PageInput }) {
  const words = wordsFor(input.caller);
  return (
    <ListTable
      caption="What is paused, longest first: every ask of it is denied"
      columns={['Agent', 'Session', 'Rejections', 'Paused', 'Resume']}
    >
      {paused.map(({ agent, sessionId, rejections, pausedAt, obstacle }, index) => (
        <tr>
          <th scope="row" data-label="Agent">
            <a class="row-link" href={sessionId === null ? agentPath(agent) : sessionPath(agent, sessionId)}>
              {agent}
            </a>
          </th>
          <td data-label="Session">
            {sessionId === null ? 'all of the agent' : <Foreign words={words} text={sessionId} />}
          </td>
          <td data-label="Rejections">{rejections ?? '–'}</td>
          <td data-label="Paused">
            <When at={pausedAt} />
          </td>
          <td data-label="Resume">
            <ResumeButton {...{ agent, sessionId, obstacle, csrf: input.csrf, id: `resume-${index}` }} />
          </td>
        </tr>
      ))}
    </ListTable>
  );
}

export const sessionsPage = definePage({
  method: 'get',
  path: SECTIONS.sessions.path,
  operation: 'list_paused',
  roles: SECTIONS.sessions.roles,
  section: 'sessions',
  handle: async (input) => {
    const paused = await toPaused(input, await listPaused(input.deps, input.caller));
    return {
      kind: 'html',
      title: 'Paused sessions',
      scripts: ['keys.js'],
      body: (
        <>
          <h1>Paused sessions</h1>
          <p class="muted">
            Three rejections pause a session, 25 within an hour the whole agent. Resuming counts anew; each
            single rejection still holds.
          </p>
          {paused.length === 0 ? (
            <p class="empty">Nothing is paused.</p>
          ) : (
            <PausedTable {...{ paused, input }} />
          )}
        </>
      ),
    };
  },
});

export const resumeAgentForm = definePage({
  method: 'post',
  path: '/console/agents/:agent/resume',
  operation: 'resume_agent',
  roles: ['operator'],
  section: 'sessions',
  handle: async ({ deps, caller, params }) => {
    const { agent } = await resumeAgent(deps, caller, fromSegment(params.agent));
    return { kind: 'redirect', to: agentPath(agent) };
  },
});

export const resumeSessionForm = definePage({
  method: 'post',
  path: '/console/agents/:agent/sessions/:session/resume',
  operation: 'resume_session',
  roles: ['operator'],
  section: 'sessions',
  handle: async ({ deps, caller, params }) => {
    const [ofAgent, session] = [fromSegment(params.agent), fromSegment(params.session)];
    const { agent, sessionId } = await resumeSession(deps, caller, ofAgent, session);
    return { kind: 'redirect', to: sessionPath(agent, sessionId) };
  },
});
