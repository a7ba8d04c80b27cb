import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPolicyFacts } from '../../src/policy/annotations.ts';
import { buildAgentCall } from '../../src/policy/call_facts.ts';
import { evaluate, parsePolicy, preparePolicies } from '../../src/policy/cedar.ts';
import { READS_ALL, type Reads } from '../../src/policy/reads.ts';
import { buildRegistry } from '../../src/policy/registry.ts';
import { type LoadedPolicy, prepareSlices } from '../../src/policy/slices.ts';
import { registration, request } from './support.ts';

const AMOUNT = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] };
const TOOLS = [
  registration('pay', 'out', { parameters_schema: AMOUNT, destructive: true }),
  registration('pay', 'look', { parameters_schema: AMOUNT, mutates_state: false, idempotent: true }),
];

const actionScope = fc.constantFrom(
  'action',
  'action == Aegis::Action::"pay.out"',
  'action == Aegis::Action::"pay.look"',
  'action in Aegis::Action::"read"',
  'action in Aegis::Action::"write"',
  'action in Aegis::Action::"invoke"',
  'action in [Aegis::Action::"pay.look", Aegis::Action::"destroy"]',
);
const principalScope = fc.constantFrom(
  'principal is Aegis::Agent',
  'principal is Aegis::Agent in Aegis::Group::"bots"',
  'principal == Aegis::Agent::"agent-1"',
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
  action: fc.constantFrom('out', 'look'),
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

test('a slice decides as the whole set does on a whole call, by the same policies', () => {
  const { registry } = buildRegistry(TOOLS);
  const actions = registry.operations.map(({ actionId, actionGroups }) => ({
    id: actionId,
    groups: actionGroups,
  }));
  let runs = 0;
  fc.assert(
    fc.property(fc.array(policy, { minLength: 1, maxLength: 6 }), call, (bodies, { action, ...context }) => {
      runs += 1;
      const policies = bodies.map((body, index) => load(`p${index}`, body));
      const asked = request('pay', action, { amount: 1 }, context);
      const operation = registry.operations.find((one) => one.action === action);
      const slice = prepareSlices(`slices ${runs}`, policies, actions).get(operation?.actionId ?? '');
      if (operation === undefined || slice === undefined) throw new TypeError('the tool is registered');
      preparePolicies(
        `whole ${runs}`,
        Object.fromEntries(policies.map(({ facts, text }) => [facts.id, text])),
      );
      const ask = (name: string, reads: Reads) =>
        evaluate(name, buildAgentCall(asked, operation, { amount: 1 }, reads));

      const whole = ask(`whole ${runs}`, READS_ALL);

      expect(whole.kind).toBe('answered');
      expect(ask(slice.preparedName, slice.reads)).toEqual(whole);
    }),
    { numRuns: 200 },
  );
});
