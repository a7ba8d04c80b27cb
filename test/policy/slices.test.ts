import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { readPolicyFacts } from '../../src/policy/annotations.ts';
import { buildAgentCall } from '../../src/policy/call_facts.ts';
import { evaluate, parsePolicy, preparePolicies } from '../../src/policy/cedar.ts';
import { OpenSlices } from '../../src/policy/open_slices.ts';
import { packPolicies } from '../../src/policy/packed_policies.ts';
import { READS_ALL } from '../../src/policy/reads.ts';
import { buildRegistry } from '../../src/policy/registry.ts';
import { listSliceTargets } from '../../src/policy/slice_targets.ts';
import type { LoadedPolicy } from '../../src/policy/slices.ts';
import { readFacts, registration, request } from './support.ts';

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
  'principal has owner && principal.owner == Aegis::Approver::"olga"',
  'action in Aegis::Action::"destroy"',
  'resource in Aegis::Tool::"pay"',
  'resource.path == ""',
  'context.now > datetime("2026-01-01")',
  '(if context.unattended then context else context).contains_sensitive_data',
  'context.tool == {registered: true, mutates_state: true, idempotent: false, destructive: true, requires_approval: false}',
);
const policy = fc
  .tuple(fc.constantFrom('permit', 'forbid'), principalScope, actionScope, condition, fc.boolean())
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

function load(id: string, text: string): LoadedPolicy {
  const parsed = parsePolicy(text);
  if (parsed.kind === 'faults') throw new TypeError(`\`${text}\` does not parse`);
  return { facts: readPolicyFacts(id, parsed.value), text, json: parsed.value };
}

const { registry } = buildRegistry(TOOLS);
const targets = listSliceTargets(registry.operations);
const WHOLE = 'the whole set';
afterAll(() => preparePolicies(WHOLE, {}));

test('a slice that is opened when it is consulted decides as the whole set does on a whole call', () => {
  fc.assert(
    fc.property(
      fc.array(policy, { minLength: 1, maxLength: 6 }),
      fc.array(call, { minLength: 1, maxLength: 4 }),
      (bodies, calls) => {
        const policies = bodies.map((body, index) => load(`p${index}`, body));
        const slices = new OpenSlices(packPolicies(policies, targets));
        preparePolicies(WHOLE, Object.fromEntries(policies.map(({ facts, text }) => [facts.id, text])));
        for (const { principal, action, mode, ...context } of calls) {
          const parameters = action === 'many' && mode !== undefined ? { amount: 1, mode } : { amount: 1 };
          const asked = request('pay', action, parameters, context);
          asked.agent.principal = principal;
          const operation = registry.operations.find((one) => one.action === action);
          if (operation === undefined) throw new TypeError('the tool is registered');
          const facts = readFacts(operation, asked);
          const slice = slices.get(facts.variant.sliceId, principal.toLowerCase());

          const whole = evaluate(WHOLE, buildAgentCall(facts, READS_ALL));

          expect(whole.kind).toBe('answered');
          expect(evaluate(slice.preparedName, buildAgentCall(facts, slice.reads))).toEqual(whole);
        }
        slices.dispose();
      },
    ),
    { numRuns: 300 },
  );
});
