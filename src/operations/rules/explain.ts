import type { PrincipalSettings } from '../../core/agent_ports.ts';
import { type Caller, NO_LIMITS, UNRATED } from '../../core/caller.ts';
import type { AskStanding, Decision, DecisionRequest, Explanation, PolicySet } from '../../core/policy.ts';
import { denialDigestOf } from '../decide_call.ts';
import type { Deps } from '../deps.ts';
import { readExecRules } from '../exec_rules.ts';
import { type CallInput, type FrozenCall, freezeCall } from '../frozen_call.ts';
import { routeAsk } from '../routing.ts';

export interface ExplainInput extends CallInput {
  /** The principal on whose behalf the call is explained. */
  agent: string;
}

/** A principal that nothing is known of: in no group, of nobody's. */
const NOBODY: Pick<PrincipalSettings, 'groups' | 'owner' | 'riskTier'> = {
  groups: [],
  owner: null,
  riskTier: null,
};

/** The agent as a caller of its own: no key of it limits what the call claims. */
async function standInFor(deps: Deps, caller: Caller, agent: string): Promise<Caller> {
  const known = (await deps.principals.find(caller.tenantId, agent)) ?? NOBODY;
  return {
    ...caller,
    principal: agent,
    roles: ['agent'],
    groups: known.groups,
    owner: known.owner,
    riskTier: known.riskTier ?? UNRATED,
    paused: await deps.sessions.isAgentPaused(caller.tenantId, agent),
    limits: NO_LIMITS,
  };
}

/** What settles whether an ask could be put to a person; of no matter to any other decision. */
async function readAskStanding(
  deps: Deps,
  policy: PolicySet,
  agent: Caller,
  call: FrozenCall,
  decision: Decision,
): Promise<AskStanding> {
  if (decision.decision !== 'require_approval') return { routable: true, deniedBefore: false };
  const { tenantId, principal, owner } = agent;
  const { session_id: sessionId, environment } = call.context;
  const digest = denialDigestOf(agent, call, decision.resolved);
  const [rejection, approvers] = await Promise.all([
    deps.denials.find(tenantId, principal, digest, sessionId, deps.settings.denialSeconds),
    deps.principals.listApprovers(tenantId),
  ]);
  const routed = { agent: principal, owner, environment };
  const { isRoutable: routable } = routeAsk(policy, decision, routed, approvers);
  return { routable, deniedBefore: rejection !== undefined };
}

/**
 * Says what would be decided of an agent's call, and why: by the rules in force, with the agent's groups, owner and
 * session as they are now, and the context as given, which no key limits. An agent that is not known is one without
 * groups and owner. Grants are left out: they answer asks, and policy's word is what is explained. Nothing is stored.
 * @throws Fault `action_hash_mismatch`, `unavailable`.
 */
export async function explain(deps: Deps, caller: Caller, input: ExplainInput): Promise<Explanation> {
  const agent = await standInFor(deps, caller, input.agent);
  const call = await freezeCall(deps, agent, input);
  const policy = await deps.policy.load(caller.tenantId, caller.tenant.activeRevision);
  const request: DecisionRequest = {
    agent: {
      principal: agent.principal,
      groups: agent.groups,
      owner: agent.owner,
      riskTier: agent.riskTier,
    },
    toolCall: call.toolCall,
    context: call.context,
    paused: call.paused,
    exec: (await readExecRules(deps, policy, agent, call)).rules,
    isSkill: false,
  };
  const standing = await readAskStanding(deps, policy, agent, call, policy.decide(request));
  return policy.explain(request, standing);
}
