import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { Decision, DecisionRequest } from '../../src/core/policy.ts';
import { preparePolicies } from '../../src/policy/cedar.ts';
import { decide, type LoadedSet, settleAsk } from '../../src/policy/decide.ts';
import { explain } from '../../src/policy/explain.ts';
import { OpenSlices } from '../../src/policy/open_slices.ts';
import { packPolicies } from '../../src/policy/packed_policies.ts';
import { READS_ALL } from '../../src/policy/reads.ts';
import { buildRegistry } from '../../src/policy/registry.ts';
import { listSliceTargets } from '../../src/policy/slice_targets.ts';
import type { LoadedPolicy } from '../../src/policy/slices.ts';
import { loadPolicy, registration, request } from './support.ts';

const AMOUNT = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] };
const MODE = {
  type: 'object',
  properties: { amount: { type: 'integer' }, mode: { type: 'string' } },
  required: ['amount'],
};
const FACTS_BY = {
  parameter: 'mode',
  values: {
    look: { mutates_state: false, idempotent: true, destructive: false },
    keep: { destructive: false },
    drop: { destructive: true },
  },
};
const TOOLS = [
  registration('pay', 'many', { parameters_schema: MODE, facts_by: FACTS_BY }),
  registration('pay', 'out', { parameters_schema: AMOUNT, destructive: true }),
  registration('pay', 'look', { parameters_schema: AMOUNT, mutates_state: false, idempotent: true }),
];

const actionScope = fc.constantFrom(
  'action',
  'action == Aegis::Action::"pay.out"',
  'action == Aegis::Action::"pay.look"',
  'action == Aegis::Action::"pay.many"',
  'action in Aegis::Action::"pay.many"',
  'action in Aegis::Action::"read"',
  'action in Aegis::Action::"write"',
  'action in Aegis::Action::"destroy"',
  'action in Aegis::Action::"invoke"',
  'action in [Aegis::Action::"pay.look", Aegis::Action::"destroy"]',
);
const principalScope = fc.constantFrom(
  'principal is Aegis::Agent',
  'principal is Aegis::Agent in Aegis::Group::"bots"',
  'principal == Aegis::Agent::"agent-1"',
  'principal == Aegis::Agent::"agent-2"',
  'principal == Aegis::Approver::"agent-1"',
  'principal in Aegis::Agent::"agent-2"',
);
const condition = fc.constantFrom(
  'context.unattended',
  'context.tool.idempotent',
  'context.tool has registered',
  'context.source_trust == Aegis::Trust::"unknown"',
  'context has workspace && context.workspace like "repo:*"',
  // Cannot be evaluated where a call names no workspace.
  'context.workspace like "repo:*"',
  'principal has owner && principal.owner == Aegis::Approver::"olga"',
  'action in Aegis::Action::"destroy"',
  'resource in Aegis::Tool::"pay"',
  'resource.path == ""',
  'context.now > datetime("2026-01-01")',
  '(if context.unattended then context else context).contains_sensitive_data',
  'context.tool == {registered: true, mutates_state: true, idempotent: false, destructive: true, requires_approval: false}',
);
const ASK = '@decision("require_approval") permit';
const policy = fc
  .tuple(fc.constantFrom('permit', 'forbid', ASK), principalScope, actionScope, condition, fc.boolean())
  .map(
    ([effect, principal, action, when, negated]) =>
      `${effect} (${principal}, ${action}, resource) ${negated ? 'unless' : 'when'} { ${when} };`,
  );
const call = fc.record({
  principal: fc.constantFrom('agent-1', 'Agent-2', 'agent-3'),
  action: fc.constantFrom('out', 'look', 'many'),
  mode: fc.constantFrom('look', 'keep', 'drop', 'unlisted', undefined),
  unattended: fc.boolean(),
  contains_sensitive_data: fc.boolean(),
  source_trust: fc.constantFrom('unknown' as const, 'trusted_internal' as const),
  workspace: fc.constantFrom(null, 'repo:a', 'other'),
});

const { registry } = buildRegistry(TOOLS);
const targets = listSliceTargets(registry.operations);
const WHOLE = 'the whole set';
const STANDING = { routable: true, deniedBefore: false };
afterAll(() => preparePolicies(WHOLE, {}));

/** The same policies as slices that are opened when they are consulted, and as one set that is told everything. */
function openBoth(policies: readonly LoadedPolicy[]): {
  slices: OpenSlices;
  sliced: LoadedSet;
  whole: LoadedSet;
} {
  const slices = new OpenSlices(packPolicies(policies, targets));
  preparePolicies(WHOLE, Object.fromEntries(policies.map(({ facts, text }) => [facts.id, text])));
  const known = new Map(policies.map(({ facts }) => [facts.id, facts]));
  const parts = [{ preparedName: WHOLE, reads: READS_ALL, policies: known }];
  return {
    slices,
    sliced: { revision: '', registry, getSlice: (sliceId, principal) => slices.get(sliceId, principal) },
    whole: { revision: '', registry, getSlice: () => ({ parts }) },
  };
}

/** What a set makes of a call, and which policies it says applied. */
function tell(
  set: LoadedSet,
  asked: DecisionRequest,
): { decision: Decision; settled: Decision; applied: string[] } {
  const decision = decide(set, asked);
  const isAsk = decision.decision === 'require_approval';
  const { contributions } = explain(set, asked, STANDING);
  return {
    decision,
    settled: isAsk ? settleAsk(set, asked, decision, STANDING) : decision,
    applied: contributions.filter(({ applied }) => applied).map(({ policyId }) => policyId),
  };
}

test('slices that are opened when they are consulted decide as the whole set does on a whole call', () => {
  fc.assert(
    fc.property(
      fc.array(policy, { minLength: 1, maxLength: 6 }),
      fc.array(call, { minLength: 1, maxLength: 4 }),
      (bodies, calls) => {
        const { slices, sliced, whole } = openBoth(
          bodies.map((body, index) => loadPolicy(`p${index}`, body)),
        );
        for (const { principal, action, mode, ...context } of calls) {
          const parameters = action === 'many' && mode !== undefined ? { amount: 1, mode } : { amount: 1 };
          const asked = request('pay', action, parameters, context);
          asked.agent.principal = principal;

          expect(tell(sliced, asked)).toEqual(tell(whole, asked));
        }
        slices.dispose();
      },
    ),
    { numRuns: 300 },
  );
});

describe('policies for all and policies for the one who asks decide together', () => {
  const FOR_ALL = 'principal is Aegis::Agent';
  const FOR_ONE = 'principal == Aegis::Agent::"agent-1"';
  const says = {
    nothing: [],
    'a permit': ['permit (@, action, resource);'],
    'an ask': [`${ASK} (@, action == Aegis::Action::"pay.out", resource);`],
    'a forbid': ['forbid (@, action, resource);', 'permit (@, action, resource);'],
    'a policy that cannot be evaluated': [
      'permit (@, action, resource) when { context.workspace == "" };',
      'permit (@, action, resource);',
    ],
  };
  type Said = keyof typeof says;
  const every = Object.keys(says) as Said[];

  function expected(...said: Said[]): Decision['decision'] {
    if (said.includes('a forbid') || said.includes('a policy that cannot be evaluated')) return 'deny';
    if (said.includes('an ask')) return 'require_approval';
    return said.includes('a permit') ? 'allow' : 'deny';
  }

  test.each(every.flatMap((all) => every.map((one) => [all, one] as const)))(
    '%s for all, %s for the one',
    (all, one) => {
      const { slices, sliced, whole } = openBoth([
        ...says[all].map((text, index) => loadPolicy(`all-${index}`, text.replace('@,', `${FOR_ALL},`))),
        ...says[one].map((text, index) => loadPolicy(`one-${index}`, text.replace('@,', `${FOR_ONE},`))),
        loadPolicy('other', 'forbid (principal == Aegis::Agent::"agent-2", action, resource);'),
      ]);
      const asked = request('pay', 'out', { amount: 1 });
      const other = request('pay', 'out', { amount: 1 });
      other.agent.principal = 'agent-2';

      expect(tell(sliced, asked).decision.decision).toBe(expected(all, one));
      expect(tell(sliced, asked)).toEqual(tell(whole, asked));
      expect(tell(sliced, other)).toEqual(tell(whole, other));
      slices.dispose();
    },
  );

  test('and all forbids of both are told', () => {
    const { slices, sliced } = openBoth([
      loadPolicy('one', `forbid (${FOR_ONE}, action, resource);`),
      loadPolicy('all', `forbid (${FOR_ALL}, action, resource);`),
    ]);

    const { decision } = tell(sliced, request('pay', 'out', { amount: 1 }));

    expect(decision.determiningPolicies).toEqual(['all', 'one']);
    slices.dispose();
  });

  test('and an explanation lists those of both that were consulted, and none of another', () => {
    const { slices, sliced } = openBoth([
      loadPolicy('all', `permit (${FOR_ALL}, action, resource);`),
      loadPolicy('all-not', `permit (${FOR_ALL}, action, resource) when { context.unattended };`),
      loadPolicy('one', `permit (${FOR_ONE}, action, resource);`),
      loadPolicy('one-not', `forbid (${FOR_ONE}, action, resource) when { context.unattended };`),
      loadPolicy('other', 'permit (principal == Aegis::Agent::"agent-2", action, resource);'),
    ]);

    const { contributions } = explain(sliced, request('pay', 'out', { amount: 1 }), STANDING);

    expect(contributions.map(({ policyId, applied }) => [policyId, applied])).toEqual([
      ['all', true],
      ['one', true],
      ['all-not', false],
      ['one-not', false],
    ]);
    slices.dispose();
  });
});
