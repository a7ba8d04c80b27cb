import type { DenialRecord, Grant, SessionRecord } from '../core/agent_ports.ts';
import type { Approval } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';
import { listApprovals } from './list_approvals.ts';
import { listDenials } from './list_denials.ts';
import { listGrants } from './list_grants.ts';
import { parsePathPrincipal, parsePathSession } from './path_names.ts';

export interface TimelineQuery {
  agent: string;
  /** Null for all of the agent's sessions. */
  sessionId: string | null;
  limit: number;
  /** Approval id of the last item of the page before. */
  before: string | null;
}

/** What is kept of an agent, or of one of its sessions. Members are null where the caller's roles do not read them. */
export interface Timeline {
  agent: string;
  sessionId: string | null;
  /** Newest first. */
  approvals: Approval[];
  next: string | null;
  /** Those in force. */
  grants: Grant[] | null;
  /** The newest rejections that hold. */
  denials: DenialRecord[] | null;
  agentPausedAt: Date | null;
  session: SessionRecord | null;
}

const DENIALS_MAX = 200;

function isOfSession(sessionId: string | null) {
  return (one: { sessionId: string | null }): boolean => sessionId === null || one.sessionId === sessionId;
}

/**
 * What an agent asked for, what people said to it, and what holds of that now.
 * @throws Fault `not_found` for an agent that is no principal.
 */
export async function readTimeline(deps: Deps, caller: Caller, query: TimelineQuery): Promise<Timeline> {
  const agent = parsePathPrincipal(query.agent);
  const sessionId = query.sessionId === null ? null : parsePathSession(query.sessionId);
  await deps.sessions.readOwner(caller.tenantId, agent);
  const isOperator = caller.roles.includes('operator');
  const readsGrants = isOperator || caller.roles.includes('approver');
  const [page, pauses, session, grants, denials] = await Promise.all([
    listApprovals(deps, caller, {
      ...{ status: null, agent, tool: null, outcomeMissing: false },
      ...(sessionId !== null && { sessionId }),
      ...{ limit: query.limit, before: query.before },
    }),
    deps.sessions.listPaused(caller.tenantId),
    sessionId === null ? null : deps.sessions.get(caller.tenantId, agent, sessionId),
    readsGrants ? listGrants(deps, caller, agent) : null,
    isOperator ? listDenials(deps, caller, { agent, limit: DENIALS_MAX, before: null }) : null,
  ]);
  return {
    agent,
    sessionId,
    approvals: page.items,
    next: page.next,
    grants: grants?.filter(isOfSession(sessionId)) ?? null,
    denials: denials?.items.filter(isOfSession(sessionId)) ?? null,
    agentPausedAt: pauses.agents.find((paused) => paused.agent === agent)?.pausedAt ?? null,
    session,
  };
}
