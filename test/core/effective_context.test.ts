import { expect, test } from 'vitest';
import { SOURCE_TRUSTS, TIERS } from '../../src/core/action.ts';
import type { RunStanding } from '../../src/core/agent_ports.ts';
import { type KeyLimits, NO_LIMITS } from '../../src/core/caller.ts';
import {
  type ContextClaims,
  type ContextLimits,
  leastTrusted,
  limitContext as limit,
} from '../../src/core/effective_context.ts';

const limits = (more: Partial<KeyLimits> = {}): KeyLimits => ({ ...NO_LIMITS, ...more });

/** The context under a key's limits, a tenant of the tier `auto`, and what else a test says. */
function limitContext(claims: ContextClaims, key: KeyLimits, more: Partial<ContextLimits> = {}) {
  return limit(claims, {
    key,
    tenantTier: 'auto',
    standing: { sessionTier: null, parentRun: null, ownRun: null },
    now: new Date('2026-01-02T03:04:05.678Z'),
    ...more,
  });
}

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
    tier: 'auto',
    workspace_root: null,
    justification: null,
    now: '2026-01-02T03:04:05.678Z',
  });
});

test('the tier is the stricter of what the call asks for and what its session or else its tenant has', () => {
  for (const tenantTier of TIERS) {
    for (const sessionTier of [null, ...TIERS]) {
      for (const claimed of [undefined, ...TIERS]) {
        const standing = { sessionTier, parentRun: null, ownRun: null };
        const { tier } = limitContext({ tier: claimed }, limits(), { tenantTier, standing });
        const given = sessionTier ?? tenantTier;
        const strictest = TIERS.find((one) => one === given || one === claimed);
        expect(tier).toBe(strictest);
      }
    }
  }
});

const FAVOURABLE: RunStanding = {
  sourceTrust: 'trusted_internal',
  containsSensitiveData: false,
  unattended: false,
  tier: 'full',
};

test.each<[string, Partial<RunStanding>, object]>([
  ['origin', { sourceTrust: 'semi_trusted' }, { source_trust: 'semi_trusted' }],
  ['sensitivity', { containsSensitiveData: true }, { contains_sensitive_data: true }],
  ['attendance', { unattended: true }, { unattended: true }],
  ['tier', { tier: 'ask' }, { tier: 'ask' }],
])('a run is never weaker than its parent in %s', (_, parent, inherited) => {
  const claims = { source_trust: 'trusted_internal', parent_run_id: 'r-1' } as const;
  const used = (parentRun: RunStanding) =>
    limitContext(claims, limits(), { standing: { sessionTier: null, parentRun, ownRun: null } });

  expect(used({ ...FAVOURABLE, ...parent })).toEqual({ ...used(FAVOURABLE), ...inherited });
});

test('a run that named its parent once does not get rid of it by no longer naming it', () => {
  const claims = { source_trust: 'trusted_internal', run_id: 'r-2' } as const;
  const ownRun: RunStanding = { ...FAVOURABLE, sourceTrust: 'untrusted', unattended: true };

  const used = limitContext(claims, limits(), { standing: { sessionTier: null, parentRun: null, ownRun } });

  expect(used).toMatchObject({ source_trust: 'untrusted', unattended: true });
});

test('a parent that nothing is known of is taken for unattended and of unknown origin', () => {
  const claims = { source_trust: 'trusted_internal', parent_run_id: 'r-1' } as const;

  expect(limitContext(claims, limits())).toMatchObject({ unattended: true, source_trust: 'unknown' });
  expect(limitContext({ ...claims, source_trust: 'untrusted' }, limits()).source_trust).toBe('untrusted');
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
