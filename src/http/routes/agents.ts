import * as z from 'zod';
import { TIERS } from '../../core/action.ts';
import type { SessionRecord } from '../../core/agent_ports.ts';
import { freezeAgent } from '../../operations/freeze_agent.ts';
import { getSession } from '../../operations/get_session.ts';
import { putSession } from '../../operations/put_session.ts';
import { resumeAgent } from '../../operations/resume_agent.ts';
import { resumeSession } from '../../operations/resume_session.ts';
import { unfreezeAgent } from '../../operations/unfreeze_agent.ts';
import { defineRoute, type RouteInput } from '../route.ts';
import { instant } from '../schemas/common.ts';

const AGENT_PARAMS = { agent: 'the agent, a principal' };
const SESSION_PARAMS = {
  ...AGENT_PARAMS,
  session_id: 'the session, as the agent names it in `context.session_id`',
};

const sessionOutput = z
  .strictObject({
    agent: z.string(),
    session_id: z.string(),
    tier: z.enum(TIERS).nullable().meta({ description: "null follows the tenant's" }),
    rejections: z.int().nonnegative().meta({ description: 'since the last resume' }),
    paused_at: instant.nullable(),
  })
  .meta({ id: 'Session' });

function sessionAnswer(session: SessionRecord) {
  return {
    body: {
      agent: session.agent,
      session_id: session.sessionId,
      tier: session.tier,
      rejections: session.rejections,
      paused_at: session.pausedAt?.toISOString() ?? null,
    },
  };
}

/** The names in the path; a path that is matched has them. */
function namesOf({ params }: Pick<RouteInput<unknown, unknown>, 'params'>) {
  return { agent: params.agent ?? '', sessionId: params.session_id ?? '' };
}

export const freezeAgentRoute = defineRoute({
  operationId: 'freezeAgent',
  summary: 'Freeze an agent',
  description:
    'From then on, on every replica, each call with a key of this agent is refused; its pending and approved approvals are void, its grants revoked.',
  method: 'post',
  path: '/v1/agents/:agent/freeze',
  params: AGENT_PARAMS,
  roles: ['operator'],
  success: { status: 204, description: 'frozen' },
  problems: ['not_found', 'last_operator_key'],
  handle: async (input) => {
    await freezeAgent(input.deps, input.caller, namesOf(input).agent);
    return {};
  },
});

export const unfreezeAgentRoute = defineRoute({
  operationId: 'unfreezeAgent',
  summary: 'Let a frozen agent act again',
  description: 'What was voided and revoked stays so.',
  method: 'post',
  path: '/v1/agents/:agent/unfreeze',
  params: AGENT_PARAMS,
  roles: ['operator'],
  success: { status: 204, description: 'no longer frozen' },
  problems: ['not_found'],
  handle: async (input) => {
    await unfreezeAgent(input.deps, input.caller, namesOf(input).agent);
    return {};
  },
});

export const resumeAgentRoute = defineRoute({
  operationId: 'resumeAgent',
  summary: 'Lift the pause of an agent',
  description: 'Policy decides who may. Pauses of its sessions and each single denial hold on.',
  method: 'post',
  path: '/v1/agents/:agent/resume',
  params: AGENT_PARAMS,
  roles: ['operator'],
  success: {
    status: 200,
    description: 'the agent, which is not paused',
    schema: z.strictObject({ agent: z.string(), paused_at: z.null() }).meta({ id: 'ResumedAgent' }),
  },
  problems: ['not_found', 'approver_not_eligible', 'self_approval_forbidden'],
  handle: async (input) => {
    const { agent } = await resumeAgent(input.deps, input.caller, namesOf(input).agent);
    return { body: { agent, paused_at: null } };
  },
});

export const getSessionRoute = defineRoute({
  operationId: 'getSession',
  summary: "Read an agent's session",
  description: 'A session of which nothing is kept follows the tenant and has no rejections.',
  method: 'get',
  path: '/v1/agents/:agent/sessions/:session_id',
  params: SESSION_PARAMS,
  roles: ['operator'],
  success: { status: 200, description: 'the session', schema: sessionOutput },
  problems: ['not_found'],
  handle: async (input) => {
    const { agent, sessionId } = namesOf(input);
    return sessionAnswer(await getSession(input.deps, input.caller, agent, sessionId));
  },
});

export const putSessionRoute = defineRoute({
  operationId: 'putSession',
  summary: "Set the tier of an agent's session",
  method: 'put',
  path: '/v1/agents/:agent/sessions/:session_id',
  params: SESSION_PARAMS,
  roles: ['operator'],
  body: z.strictObject({ tier: z.enum(TIERS).nullable() }).meta({ id: 'PutSessionRequest' }),
  success: { status: 200, description: 'the session', schema: sessionOutput },
  problems: ['not_found'],
  handle: async (input) => {
    const { agent, sessionId } = namesOf(input);
    return sessionAnswer(await putSession(input.deps, input.caller, agent, sessionId, input.body.tier));
  },
});

export const resumeSessionRoute = defineRoute({
  operationId: 'resumeSession',
  summary: "Lift the pause of an agent's session",
  description: 'Policy decides who may. Rejections are counted anew; each single denial holds on.',
  method: 'post',
  path: '/v1/agents/:agent/sessions/:session_id/resume',
  params: SESSION_PARAMS,
  roles: ['operator'],
  success: { status: 200, description: 'the session', schema: sessionOutput },
  problems: ['not_found', 'approver_not_eligible', 'self_approval_forbidden'],
  handle: async (input) => {
    const { agent, sessionId } = namesOf(input);
    return sessionAnswer(await resumeSession(input.deps, input.caller, agent, sessionId));
  },
});
