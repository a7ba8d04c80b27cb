import type { DenialRecord } from '../core/agent_ports.ts';
import type { Caller } from '../core/caller.ts';
import { createDenial } from '../core/denial.ts';
import { computeDenialDigest } from '../core/denial_digest.ts';
import type { ExecGround } from '../core/exec_ports.ts';
import type { AskDecision, Decision, DecisionRequest, DenyDecision, PolicySet } from '../core/policy.ts';
import type { Deps } from './deps.ts';
import { listEntryUses, readExecRules } from './exec_rules.ts';
import type { FrozenCall } from './frozen_call.ts';
import { findAnsweringGrant, voidDeniedGrants } from './grants.ts';
import { maskerOf } from './masking.ts';
import { type Routing, routeAsk } from './routing.ts';

/** A call decided, with the grant that answered where policy asked. */
export interface DecidedCall {
  decision: Decision;
  grantId: string | null;
  /** What policy was told of the ledger; false where it was not asked. */
  deniedBefore: boolean;
  /** What was read of exec approvals; null for what is no command. */
  exec: ExecGround | null;
}

/** A call decided, but for what was read of exec approvals. */
type Settled = Omit<DecidedCall, 'exec'>;

/** The ledger's key for a call that resolved to a tool. */
export function denialDigestOf(caller: Caller, call: FrozenCall, resolved: Decision['resolved']): string {
  return computeDenialDigest({
    tenantId: caller.tenantId,
    agent: caller.principal,
    ...resolved,
    resource: call.toolCall.resource,
    parameters: call.toolCall.parameters,
  });
}

/** A deny for what a person rejected before, with that person's own words for the agent's model. */
function denyInTheirWords(denied: DenyDecision, rejection: DenialRecord, call: FrozenCall): DenyDecision {
  const isOfThisSession = rejection.sessionId !== null && rejection.sessionId === call.context.session_id;
  const by = isOfThisSession ? 'person' : 'ledger';
  return { ...denied, denial: createDenial(by, denied.reason, rejection.reason) };
}

/** Whether an ask may be put to a person: Cedar's second word, over what is known of people and rejections. */
async function settle(
  deps: Deps,
  policy: PolicySet,
  caller: Caller,
  call: FrozenCall,
  request: DecisionRequest,
  ask: AskDecision,
): Promise<Settled> {
  const { tenantId, principal: agent, owner } = caller;
  const { session_id: sessionId, environment } = call.context;
  const digest = denialDigestOf(caller, call, ask.resolved);
  const [rejection, approvers] = await Promise.all([
    deps.denials.find(tenantId, agent, digest, sessionId, deps.settings.denialSeconds),
    deps.principals.listApprovers(tenantId),
  ]);
  const routing = routeAsk(policy, ask, { agent, owner, environment }, approvers);
  const deniedBefore = rejection !== undefined;
  const settled = policy.settleAsk(request, ask, { routable: routing.isRoutable, deniedBefore });
  const decision = settled.decision === 'deny' ? sayWhy(settled, call, rejection, routing) : settled;
  return { decision, grantId: null, deniedBefore };
}

/** A deny with what is known of its cause: who is lacking, or what a person said. */
function sayWhy(
  settled: DenyDecision,
  call: FrozenCall,
  rejection: DenialRecord | undefined,
  routing: Routing,
): DenyDecision {
  if (settled.denial?.by === 'unroutable' && !routing.isRoutable) {
    const reason = `${settled.reason}: ${routing.lacking}`;
    return { ...settled, reason, denial: createDenial('unroutable', reason) };
  }
  return settled.denial?.by === 'ledger' && rejection !== undefined
    ? denyInTheirWords(settled, rejection, call)
    : settled;
}

/** A decision whose reasons hold nothing secret, should they quote the call: they are stored and shown. */
function maskReasons(caller: Caller, decision: Decision): Decision {
  const { maskText } = maskerOf(caller);
  const reason = maskText(decision.reason);
  if (decision.decision !== 'deny' || decision.denial === null) return { ...decision, reason };
  const denial = { ...decision.denial, reason: maskText(decision.denial.reason) };
  return { ...decision, reason, denial };
}

/**
 * Decides a call: policy, then for an ask a grant that answers it, then whether it may be put to a person. Nothing is
 * written but the end of grants that the rules in force do not bear out.
 */
export async function decideCall(
  deps: Deps,
  policy: PolicySet,
  caller: Caller,
  call: FrozenCall,
): Promise<DecidedCall> {
  const { rules, seen } = await readExecRules(deps, policy, caller, call);
  const request: DecisionRequest = {
    agent: {
      principal: caller.principal,
      groups: caller.groups,
      owner: caller.owner,
      riskTier: caller.riskTier,
    },
    toolCall: call.toolCall,
    context: call.context,
    paused: call.paused,
    exec: rules,
    isSkill: caller.limits.skill,
  };
  const settled = await decideRequest(deps, policy, caller, call, request);
  const uses =
    settled.decision.decision === 'allow' ? listEntryUses(caller, call, settled.decision, rules) : [];
  return { ...settled, decision: maskReasons(caller, settled.decision), exec: seen && { seen, uses } };
}

async function decideRequest(
  deps: Deps,
  policy: PolicySet,
  caller: Caller,
  call: FrozenCall,
  request: DecisionRequest,
): Promise<Settled> {
  const decision = policy.decide(request);
  if (decision.decision === 'deny') await voidDeniedGrants(deps, policy, caller, call);
  if (decision.decision !== 'require_approval') return { decision, grantId: null, deniedBefore: false };
  const grant = await findAnsweringGrant(deps, policy, caller, call, decision);
  if (grant === undefined) return settle(deps, policy, caller, call, request, decision);
  const { terms: _, ...asked } = decision;
  const reason = `\`${grant.grantedBy}\` has granted this for a ${grant.scope}: ${asked.reason}`;
  return { decision: { ...asked, decision: 'allow', reason }, grantId: grant.grantId, deniedBefore: false };
}
