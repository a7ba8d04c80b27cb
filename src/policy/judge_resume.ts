import type { ApproverDecision, ResumeRequest } from '../core/policy.ts';
import { judgeCall, refuseUnevaluated } from './approver_call.ts';
import { agentUid, approverUid } from './call_facts.ts';
import { entityUid, RESUME_ACTION } from './model.ts';
import type { LoadedSet } from './prepare_call.ts';

const WHO_COULD = 'an operator other than the agent itself may resume it';

/**
 * Asks Cedar whether somebody may clear the pause of an agent or of one of its sessions. FAIL CLOSED: whatever goes
 * wrong is a refusal.
 */
export function judgeResume(set: LoadedSet, request: ResumeRequest): ApproverDecision {
  try {
    const { approver, agent, sessionId } = request;
    const uid = agentUid(agent.principal);
    const owner = agent.owner === null ? {} : { owner: { __entity: approverUid(agent.owner) } };
    // Whoever resumes is not asked how risky the agent is held to be: that is a fact of calls.
    const agentEntity = { uid, attrs: owner, parents: [] };
    if (sessionId === null) {
      const resource = agentEntity;
      return judgeCall(set, { action: RESUME_ACTION, approver, resource, others: [], whoCould: WHO_COULD });
    }
    const resource = {
      uid: entityUid('Session', `${uid.id}/${sessionId}`),
      attrs: { agent: { __entity: uid } },
      parents: [],
    };
    const others = [agentEntity];
    return judgeCall(set, { action: RESUME_ACTION, approver, resource, others, whoCould: WHO_COULD });
  } catch {
    return refuseUnevaluated();
  }
}
