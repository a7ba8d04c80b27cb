import type { ApproverDecision, AskTerms, Decision, PolicySet, Requirements } from '../core/policy.ts';
import { decideSettled } from '../core/settled_decision.ts';
import { type CallDefaults, toDecisionRequest } from './call_request.ts';
import type { ApproverCase, CallCase, CaseFile } from './case_file.ts';

/** What a case does not say is this; calls come from inside unless it says otherwise. */
const DEFAULTS: CallDefaults = { sourceTrust: 'trusted_internal', now: '2026-01-02T03:04:05.678Z' };

/** What came out of a call, or has to: null for what there is none of. */
export interface CallOutcome {
  decision: Decision['decision'];
  determining_policies: string[];
  requirements: Requirements | null;
  denied_by: string | null;
  /** Compared only when the case says it. */
  ttl_seconds?: number | null;
  max_scope?: AskTerms['maxScope'];
  self_approval?: string[];
}

export interface CaseResult {
  name: string;
  passed: boolean;
  expected: CallOutcome | string;
  actual: CallOutcome | string;
  /** The reason that was given. */
  reason: string;
  /** What stands in the way although the outcome is the expected one. */
  faults: string[];
}

/** Decides a case's call and settles an ask, as the service does where no grant answers. */
export function decideCase(set: PolicySet, one: CallCase): Decision {
  const { request, standing } = toDecisionRequest(one, DEFAULTS);
  return decideSettled(set, request, standing);
}

/** Asks policy about a case's approver. */
export function judgeCase(set: PolicySet, one: ApproverCase): ApproverDecision {
  const about = one.approval ?? {};
  const agent = (about.agent ?? 'agent-1').toLowerCase();
  const owner = about.owner?.toLowerCase() ?? null;
  if (one.action === 'resume') {
    return set.judgeResume({
      approver: one.approver,
      agent: { principal: agent, owner },
      sessionId: about.session_id ?? null,
    });
  }
  return set.judgeApprover({
    action: one.action,
    approver: one.approver,
    approval: {
      approvalId: 'apr_1',
      agent,
      owner,
      editors: about.editors ?? [],
      resolved: { tool: about.tool ?? 'stripe', action: about.action ?? 'refund' },
      environment: about.environment ?? null,
      requiredGroups: about.required_groups ?? [],
      selfApproval: about.self_approval ?? [],
      hasOwnVote: about.has_own_vote ?? false,
    },
  });
}

/** Runs a case of a call. It passes when decision, determining policies, requirements and `denied_by` are as it says. */
export function runCallCase(set: PolicySet, one: CallCase): CaseResult {
  const decision = decideCase(set, one);
  const expected = expectedOutcome(one);
  const actual = outcomeOf(decision, one);
  const twin = one.twin_of;
  const faults =
    twin !== undefined && decision.determiningPolicies.includes(twin)
      ? [`it is the twin of \`${twin}\`, which decides it`]
      : [];
  const isAsExpected = JSON.stringify(actual) === JSON.stringify(expected);
  const passed = isAsExpected && faults.length === 0;
  return { name: one.name, passed, expected, actual, reason: decision.reason, faults };
}

/** Runs a case of an approver. It passes when policy permits, or refuses with the code, as it says. */
export function runApproverCase(set: PolicySet, one: ApproverCase): CaseResult {
  const judged = judgeCase(set, one);
  const actual = judged.kind === 'refused' ? judged.code : judged.kind;
  const reason = judged.kind === 'refused' ? judged.reason : '';
  return {
    name: one.name,
    passed: actual === one.expected,
    expected: one.expected,
    actual,
    reason,
    faults: [],
  };
}

/** Policies that no case names as deciding it, and those that no case is the twin of, among `policyIds`; sorted. */
export function findUncovered(
  policyIds: readonly string[],
  files: readonly CaseFile[],
): { undecided: string[]; untwinned: string[] } {
  const { decided, twins } = namedPolicies(files);
  return {
    undecided: policyIds.filter((id) => !decided.has(id)).toSorted(),
    untwinned: policyIds.filter((id) => !twins.has(id)).toSorted(),
  };
}

/** Policies that cases name and the set does not have; sorted. */
export function findUnknownPolicies(policyIds: readonly string[], files: readonly CaseFile[]): string[] {
  const known = new Set(policyIds);
  const { decided, twins } = namedPolicies(files);
  return [...new Set([...decided, ...twins])].filter((id) => !known.has(id)).toSorted();
}

function namedPolicies(files: readonly CaseFile[]): { decided: Set<string>; twins: Set<string> } {
  const all = files.flatMap(({ cases, approverCases }) => [...cases, ...approverCases]);
  const approvers = files.flatMap(({ approverCases }) => approverCases.flatMap(({ policy }) => policy ?? []));
  const calls = files.flatMap(({ cases }) => cases.flatMap((one) => one.determining_policies));
  return {
    decided: new Set([...calls, ...approvers]),
    twins: new Set(all.flatMap((one) => one.twin_of ?? [])),
  };
}

function expectedOutcome(one: CallCase): CallOutcome {
  return {
    decision: one.decision,
    determining_policies: one.determining_policies.toSorted(),
    requirements: one.requirements === undefined ? null : sortedRequirements(one.requirements),
    denied_by: one.denied_by ?? null,
    ...(one.ttl_seconds === undefined ? {} : { ttl_seconds: one.ttl_seconds }),
    ...(one.max_scope === undefined ? {} : { max_scope: one.max_scope }),
    ...(one.self_approval === undefined ? {} : { self_approval: one.self_approval.toSorted() }),
  };
}

/** A decision's outcome, with those optional members of an ask that `said` has. */
export function outcomeOf(
  decision: Decision,
  said: Pick<CallCase, 'ttl_seconds' | 'max_scope' | 'self_approval'>,
): CallOutcome {
  const terms = decision.decision === 'require_approval' ? decision.terms : null;
  return {
    decision: decision.decision,
    determining_policies: decision.determiningPolicies.toSorted(),
    requirements: terms === null ? null : sortedRequirements(terms.requirements),
    denied_by: decision.decision === 'deny' ? (decision.denial?.by ?? null) : null,
    ...(said.ttl_seconds === undefined || terms === null ? {} : { ttl_seconds: terms.ttlSeconds }),
    ...(said.max_scope === undefined || terms === null ? {} : { max_scope: terms.maxScope }),
    ...(said.self_approval === undefined || terms === null
      ? {}
      : { self_approval: terms.selfApproval.toSorted() }),
  };
}

function sortedRequirements({ votes, groups, signature }: Requirements): Requirements {
  return { votes, groups: groups.toSorted(), signature };
}
