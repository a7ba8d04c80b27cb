import type { DecisionContext } from '../core/action.ts';
import type { Grant, GrantQuery } from '../core/agent_ports.ts';
import { presentVotes } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { isNoWorse, isWithinScope, toGrantQuery } from '../core/grant.ts';
import type { AskDecision, PolicySet } from '../core/policy.ts';
import { areRequirementsMet } from '../core/requirements.ts';
import { readVoteStatement } from '../core/vote_statement.ts';
import type { Deps } from './deps.ts';

/** A call that policy made an ask. */
export interface AskedCall {
  actionHash: string;
  context: DecisionContext;
}

/** Whether everyone whose vote the grant rests on may still give it (NO SILENT DRIFT). */
function doVotersHold(policy: PolicySet, grant: Grant, ask: AskDecision): boolean {
  return (['approve', 'widen'] as const).every((action) =>
    grant.votes.every(({ approver, presentGroups }) => {
      const judged = policy.judgeApprover({
        action,
        approver: { principal: approver, groups: presentGroups ?? [], roles: ['approver'] },
        approval: {
          approvalId: grant.approvalId,
          agent: grant.agent,
          owner: grant.owner,
          editors: grant.editors,
          resolved: grant.resolved,
          environment: grant.environment,
          requiredGroups: ask.terms.requirements.groups,
          selfApproval: ask.terms.selfApproval,
          hasOwnVote: true,
        },
      });
      return judged.kind === 'permitted';
    }),
  );
}

/** Whether a grant of another revision holds under this one: the ask is decided anew already, the rest is looked at here. */
function holdsAfterDrift(deps: Deps, policy: PolicySet, grant: Grant, ask: AskDecision): boolean {
  if (deps.settings.policyDrift === 'strict') return false;
  const { ttlSeconds } = ask.terms;
  return (ttlSeconds === null || grant.ageSeconds <= ttlSeconds) && doVotersHold(policy, grant, ask);
}

/**
 * Whether the yes that was given, by those who could give it now, is all that this ask wants. A signature counts under
 * the rules that it names alone, whichever the grant was used under since.
 */
function meetsTerms(policy: PolicySet, grant: Grant, { terms }: AskDecision): boolean {
  const votes = presentVotes(grant.votes);
  const isSigned = votes.every(
    ({ signature }) => signature !== null && readVoteStatement(signature).policy_revision === policy.revision,
  );
  return (
    (terms.requirements.signature === 'none' || isSigned) &&
    isWithinScope(grant.scope, terms.maxScope) &&
    areRequirementsMet(terms.requirements, votes)
  );
}

function toQuery({ tenantId, principal: agent }: Caller, { actionHash, context }: AskedCall): GrantQuery {
  return toGrantQuery({ tenantId, agent }, context, actionHash);
}

/** Ends the grants that other rules gave a call which the present ones deny: going back does not bring them back. */
export function voidDeniedGrants(
  deps: Deps,
  policy: PolicySet,
  caller: Caller,
  call: AskedCall,
): Promise<void> {
  return deps.grants.voidDenied(toQuery(caller, call), policy.revision);
}

/**
 * The grant that answers an ask, if there is one: of the same fingerprint, with votes that meet this ask's
 * requirements, given under circumstances no better than the call's. One of another revision is voided where it does
 * not hold under the active one.
 */
export async function findAnsweringGrant(
  deps: Deps,
  policy: PolicySet,
  caller: Caller,
  call: AskedCall,
  ask: AskDecision,
): Promise<Grant | undefined> {
  const { context } = call;
  const grants = await deps.grants.findAnswering(toQuery(caller, call));
  for (const grant of grants) {
    const isCurrent = grant.policyRevision === policy.revision;
    const holds = meetsTerms(policy, grant, ask) && (isCurrent || holdsAfterDrift(deps, policy, grant, ask));
    if (holds && isNoWorse(context, grant)) return grant;
    if (!holds && !isCurrent) {
      await deps.grants.voidDrifted(caller.tenantId, grant.grantId, policy.revision);
    }
  }
  return undefined;
}
