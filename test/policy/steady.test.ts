import { describe, expect, test } from 'vitest';
import { OpenSlices } from '../../src/policy/open_slices.ts';
import { packPolicies } from '../../src/policy/packed_policies.ts';
import { steadinessOf } from '../../src/policy/steady.ts';
import { loadPolicy } from './support.ts';

const when = (condition: string) => `permit (principal, action, resource) when { ${condition} };`;

describe('a policy', () => {
  test.each([
    ['always', 'permit (principal in Aegis::Group::"a", action in Aegis::Action::"write", resource);'],
    ['always', when('context.tool.destructive && context.tier == Aegis::Tier::"auto"')],
    ['always', when('principal.risk_tier > 2 && !context.unattended && context has workspace')],
    ['without commands', when('context.tool.registered || context has command && context.command.floor')],
    ['never', when('context.parameters.amount < 5')],
    ['never', when('context has command && context.parameters has amount')],
    ['never', when('context.now < datetime("2030-01-01")')],
    ['never', when('context.session_id == "a"')],
    ['never', when('context has anything_else')],
    ['never', when('context == {}')],
    ['never', when('resource == Aegis::Resource::"a"')],
    ['never', 'permit (principal, action, resource in Aegis::Tool::"a");'],
  ] as const)('reads what differs from call to call %s: %s', (steadiness, text) => {
    expect(steadinessOf(loadPolicy('p', text).json)).toBe(steadiness);
  });
});

test('a slice has its steady policies in a part of their own, and more of them where no command can be run', () => {
  const policies = [
    loadPolicy('tool', when('context.tool.registered')),
    loadPolicy('command', when('context has command')),
    loadPolicy('amount', when('context.parameters.amount < 5')),
  ];
  const targets = [
    { sliceId: 'pay', actionId: 'pay', groups: [], hasCommand: false },
    { sliceId: 'run', actionId: 'run', groups: [], hasCommand: true },
  ];
  const slices = new OpenSlices(packPolicies(policies, targets));
  const idsOf = (sliceId: string) => slices.get(sliceId, 'a').parts.map((part) => [...part.policies.keys()]);
  expect(idsOf('pay')).toStrictEqual([['tool', 'command'], ['amount']]);
  expect(idsOf('run')).toStrictEqual([['tool'], ['command', 'amount']]);
  slices.dispose();
});
