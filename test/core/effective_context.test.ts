import { expect, test } from 'vitest';
import { SOURCE_TRUSTS } from '../../src/core/action.ts';
import type { KeyLimits } from '../../src/core/caller.ts';
import { leastTrusted, limitContext } from '../../src/core/effective_context.ts';
import { NO_LIMITS } from '../../src/operations/create_key.ts';

const limits = (more: Partial<KeyLimits> = {}): KeyLimits => ({ ...NO_LIMITS, ...more });

test('a claim of origin never passes the ceiling of its key, and may stay below it', () => {
  for (const [claimed, claim] of SOURCE_TRUSTS.entries()) {
    for (const [held, sourceTrustCeiling] of SOURCE_TRUSTS.entries()) {
      const used = limitContext({ source_trust: claim }, limits({ sourceTrustCeiling })).source_trust;
      expect(SOURCE_TRUSTS.indexOf(used)).toBe(Math.max(claimed, held));
      expect(leastTrusted(claim, sourceTrustCeiling)).toBe(used);
    }
  }
});

test('a call that says nothing is of unknown origin and bound to no place', () => {
  expect(limitContext({}, limits())).toEqual({
    source_trust: 'unknown',
    contains_sensitive_data: false,
    workspace: null,
    environment: null,
    session_id: null,
    run_id: null,
    parent_run_id: null,
    unattended: false,
    tier: null,
    justification: null,
  });
});

test('an unattended key makes every call unattended', () => {
  expect(limitContext({ unattended: false }, limits({ unattended: true })).unattended).toBe(true);
  expect(limitContext({ unattended: true }, limits()).unattended).toBe(true);
});

test.each(['workspace', 'environment'] as const)('a %s outside the list of the key is forbidden', (name) => {
  const list = name === 'workspace' ? 'workspaces' : 'environments';
  expect(limitContext({}, limits({ [list]: ['one'] }))[name]).toBe('one');
  expect(limitContext({ [name]: 'two' }, limits({ [list]: ['one', 'two'] }))[name]).toBe('two');
  const refused = expect.objectContaining({ code: 'forbidden' });
  expect(() => limitContext({ [name]: 'three' }, limits({ [list]: ['one', 'two'] }))).toThrow(refused);
  expect(() => limitContext({}, limits({ [list]: ['one', 'two'] }))).toThrow(refused);
});
