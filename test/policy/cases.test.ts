import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DecisionContext, ToolCall } from '../../src/core/action.ts';
import type { ApproverRequest } from '../../src/core/policy.ts';
import { loadPolicySet } from '../../src/policy/load.ts';
import { POLICY_DIRECTORY, request, starterPolicies } from './support.ts';

interface Case {
  name: string;
  tool_call: ToolCall;
  context?: Partial<DecisionContext>;
  decision: string;
  determining_policies: string[];
  requirements?: { votes: number; groups: string[]; signature: string };
  denied_by?: string;
  twin_of?: string;
}

interface ApproverCase {
  name: string;
  action: ApproverRequest['action'];
  approver: ApproverRequest['approver'];
  approval?: {
    owner?: string;
    editors?: string[];
    self_approval?: ApproverRequest['approval']['selfApproval'];
    has_own_vote?: boolean;
  };
  expected: string;
  policy?: string;
  twin_of?: string;
}

interface CaseFile {
  cases?: Case[];
  approver_cases?: ApproverCase[];
}

const set = await loadPolicySet(POLICY_DIRECTORY);
const directory = join(POLICY_DIRECTORY, 'cases');
const files = readdirSync(directory).map(
  (name): CaseFile => JSON.parse(readFileSync(join(directory, name), 'utf8')),
);
const cases = files.flatMap((file) => file.cases ?? []);
const approverCases = files.flatMap((file) => file.approver_cases ?? []);

describe('every case beside the policies is decided as it says', () => {
  test.each(cases)('$name', (one) => {
    const call = { ...request('', '', {}, one.context), toolCall: one.tool_call };

    const decision = set.decide(call);

    expect(decision).toMatchObject({
      decision: one.decision,
      determiningPolicies: one.determining_policies,
      policyRevision: set.revision,
    });
    expect(decision.decision === 'deny' ? decision.denial?.by : undefined).toBe(one.denied_by);
    expect(decision.decision === 'require_approval' ? decision.terms.requirements : undefined).toEqual(
      one.requirements,
    );
    expect(decision.reason).not.toBe('');
    if (one.twin_of !== undefined) expect(decision.determiningPolicies).not.toContain(one.twin_of);
  });

  test.each(approverCases)('$name', (one) => {
    const { owner, editors, self_approval, has_own_vote } = one.approval ?? {};

    const judged = set.judgeApprover({
      action: one.action,
      approver: one.approver,
      approval: {
        approvalId: 'apr_1',
        agent: 'agent-1',
        owner: owner ?? null,
        editors: editors ?? [],
        resolved: { tool: 'stripe', action: 'refund' },
        environment: null,
        requiredGroups: [],
        selfApproval: self_approval ?? [],
        hasOwnVote: has_own_vote ?? false,
      },
    });

    expect(judged.kind === 'refused' ? judged.code : judged.kind).toBe(one.expected);
  });

  test('every policy has a case that it decides and a twin that it does not', () => {
    const decided = [
      ...cases.flatMap((one) => one.determining_policies),
      ...approverCases.map((one) => one.policy),
    ];
    const twins = [...cases, ...approverCases].map((one) => one.twin_of);
    const lacking = starterPolicies()
      .map((policy) => policy.id)
      .filter((id) => !decided.includes(id) || !twins.includes(id));

    expect(lacking).toEqual([]);
  });
});
