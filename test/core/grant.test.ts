import { describe, expect, test } from 'vitest';
import {
  collectGrantTerms,
  computeGrantFingerprint,
  GRANT_LIFE_SECONDS,
  isNoWorse,
  offeredScopes,
} from '../../src/core/grant.ts';
import type { Scope } from '../../src/core/policy.ts';

const vote = (scope: Scope, windowSeconds: number | null = null, maxUses: number | null = null) => ({
  scope,
  windowSeconds,
  maxUses,
});

describe('votes grant together', () => {
  test.each([
    ['nothing, when one is for once', [vote('session'), vote('once')], undefined],
    [
      'a run, when one is for a run',
      [vote('run'), vote('session')],
      { scope: 'run', seconds: GRANT_LIFE_SECONDS, maxUses: null },
    ],
    [
      'a session',
      [vote('session'), vote('window', 9, 9)],
      { scope: 'session', seconds: GRANT_LIFE_SECONDS, maxUses: null },
    ],
    [
      'the shortest window with the fewest uses',
      [vote('window', 60, 9), vote('window', 600, 2)],
      { scope: 'window', seconds: 60, maxUses: 2 },
    ],
  ])('%s', (_, votes, terms) => {
    expect(collectGrantTerms(votes)).toEqual(terms);
  });
});

const QUERY = {
  tenantId: 't',
  agent: 'a',
  workspace: 'w',
  environment: 'e',
  sessionId: 's',
  runId: 'r',
  actionHash: 'f'.repeat(64),
};

describe('a fingerprint', () => {
  test.each(Object.keys(QUERY).filter((name) => name !== 'runId'))('of a session moves with %s', (name) => {
    const other = computeGrantFingerprint({ ...QUERY, [name]: 'other' }, 'session');
    expect(other).not.toBe(computeGrantFingerprint(QUERY, 'session'));
  });

  test('of a session does not move with the run, one of a run does', () => {
    const other = { ...QUERY, runId: 'other' };
    expect(computeGrantFingerprint(other, 'session')).toBe(computeGrantFingerprint(QUERY, 'session'));
    expect(computeGrantFingerprint(other, 'run')).not.toBe(computeGrantFingerprint(QUERY, 'run'));
  });

  test('tells an absent place from one that is called null', () => {
    const absent = computeGrantFingerprint({ ...QUERY, workspace: null }, 'session');
    expect(absent).not.toBe(computeGrantFingerprint({ ...QUERY, workspace: 'null' }, 'session'));
  });
});

test.each([
  ['trusted_internal', false, true],
  ['semi_trusted', false, true],
  ['unknown', false, false],
  ['semi_trusted', true, false],
] as const)(
  'a call of %s origin, sensitive %s, under a grant of semi-trusted origin: %s',
  (trust, sensitive, expected) => {
    const call = { source_trust: trust, contains_sensitive_data: sensitive };
    expect(isNoWorse(call, { sourceTrust: 'semi_trusted', containsSensitiveData: false })).toBe(expected);
  },
);

test('a scope is offered up to the widest, and only where the call has its place', () => {
  const everything = { session_id: 's', run_id: 'r' };
  expect(offeredScopes('once', everything)).toEqual(['once']);
  expect(offeredScopes('run', everything)).toEqual(['once', 'run']);
  expect(offeredScopes('window', { session_id: null, run_id: null })).toEqual(['once', 'window']);
});
