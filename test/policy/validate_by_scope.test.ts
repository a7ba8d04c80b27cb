import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type SchemaJson, type Type, validatePolicies } from '../../src/policy/cedar.ts';
import { validateByScope } from '../../src/policy/validate_by_scope.ts';
import { loadPolicy } from './support.ts';

const BOOLEAN: Type<string> = { type: 'Boolean' };

function action(groups: readonly string[], attributes: Record<string, Type<string>>) {
  return {
    memberOf: groups.map((id) => ({ id })),
    appliesTo: {
      principalTypes: ['Agent'],
      resourceTypes: ['Resource'],
      context: { type: 'Record' as const, attributes: { unattended: BOOLEAN, ...attributes } },
    },
  };
}

/** Two actions alike but for their ids, one with other parameters, one of another principal. */
const SCHEMA: SchemaJson<string> = {
  Aegis: {
    entityTypes: { Group: {}, Agent: { memberOfTypes: ['Group'] }, Approver: {}, Resource: {} },
    actions: {
      invoke: {},
      write: { memberOf: [{ id: 'invoke' }] },
      read: { memberOf: [{ id: 'invoke' }] },
      destroy: { memberOf: [{ id: 'invoke' }] },
      'pay.out': action(['write'], { urgent: BOOLEAN }),
      'pay.back': action(['write'], { urgent: BOOLEAN }),
      'pay.look': action(['read'], { deep: BOOLEAN }),
      approve: {
        appliesTo: {
          principalTypes: ['Approver'],
          resourceTypes: ['Resource'],
          context: { type: 'Record', attributes: {} },
        },
      },
    },
  },
};

const scope = fc.constantFrom(
  'action',
  'action == Aegis::Action::"pay.out"',
  'action == Aegis::Action::"pay.look"',
  'action == Aegis::Action::"write"',
  'action == Aegis::Action::"nobody.has"',
  'action == Aegis::Action::"approve"',
  'action in Aegis::Action::"write"',
  'action in Aegis::Action::"destroy"',
  'action in Aegis::Action::"invoke"',
  'action in [Aegis::Action::"pay.look", Aegis::Action::"pay.back"]',
);
const principal = fc.constantFrom('principal', 'principal is Aegis::Agent', 'principal is Aegis::Approver');
const condition = fc.constantFrom(
  'true',
  'context.unattended',
  'context.urgent',
  'context.deep',
  'context has urgent && context.urgent',
  'action == Aegis::Action::"pay.back"',
  'action == Aegis::Action::"pay.out" && context.urgent',
  'action in Aegis::Action::"read" && context.deep',
  '[Aegis::Action::"pay.look"].contains(action)',
  'action == Aegis::Action::"misspelt"',
  'principal in Aegis::Group::"bots"',
  'principal is Aegis::Approver && context.sauce',
  '1 < "x"',
);
const policy = fc
  .tuple(
    fc.constantFrom('permit', 'forbid'),
    principal,
    scope,
    fc.array(condition, { minLength: 1, maxLength: 2 }),
  )
  .map(([effect, who, what, when]) => `${effect} (${who}, ${what}, resource) when { ${when.join(' || ')} };`);

test('policies checked by their scope are refused exactly if the whole schema refuses them', () => {
  fc.assert(
    fc.property(fc.array(policy, { minLength: 1, maxLength: 8 }), (texts) => {
      const policies = texts.map((text, index) => loadPolicy(`p${index}`, text));
      const whole = validatePolicies(
        Object.fromEntries(policies.map(({ facts, text }) => [facts.id, text])),
        SCHEMA,
      );
      // What `has` tests is checked besides: such a policy may be refused although the validator takes it.
      const besides = validateByScope(policies, SCHEMA, 1_000).filter(
        ({ message }) => !message.startsWith('no action of its scope has'),
      );

      expect(new Set(besides.map(({ policyId }) => policyId))).toEqual(
        new Set(whole.map(({ policyId }) => policyId)),
      );
    }),
    { numRuns: 300 },
  );
});

test('a misspelt action is told with the nearest of all actions', () => {
  const misspelt = loadPolicy('p', 'permit (principal, action == Aegis::Action::"pay.lock", resource);');

  expect(validateByScope([misspelt], SCHEMA, 10)).toEqual([
    expect.objectContaining({
      policyId: 'p',
      line: 1,
      column: 30,
      message: expect.stringContaining('pay.lock'),
      help: expect.stringContaining('pay.look'),
    }),
  ]);
});
