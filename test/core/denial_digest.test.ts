import { expect, test } from 'vitest';
import { computeDenialDigest } from '../../src/core/denial_digest.ts';
import { sha256Hex } from '../../src/core/digest.ts';

const DENIED = {
  tenantId: 'default',
  agent: 'agent-1',
  tool: 'stripe',
  action: 'refund',
  resource: 'ch_1',
  parameters: { currency: 'usd', amount: 9000 },
};

test('the digest is SHA-256 of the canonical text of the six members', () => {
  expect(computeDenialDigest(DENIED)).toBe(
    sha256Hex(
      '{"action":"refund","agent":"agent-1","parameters":{"amount":9000,"currency":"usd"},"resource":"ch_1","tenant":"default","tool":"stripe"}',
    ),
  );
});

test('the order of parameters makes no other action', () => {
  const parameters = { amount: 9000, currency: 'usd' };
  expect(computeDenialDigest({ ...DENIED, parameters })).toBe(computeDenialDigest(DENIED));
});

test.each([
  { tenantId: 'other' },
  { agent: 'agent-2' },
  { tool: 'stripe2' },
  { action: 'refunds' },
  { resource: null },
  { resource: '' },
  { parameters: { currency: 'usd', amount: 9001 } },
  { tool: 'striper', action: 'efund' },
])('another member is another action: %j', (other) => {
  expect(computeDenialDigest({ ...DENIED, ...other })).not.toBe(computeDenialDigest(DENIED));
});

test('what else the call has is not part of it', () => {
  const more = { ...DENIED, mutates_state: true, session_id: 's-1' };
  expect(computeDenialDigest(more)).toBe(computeDenialDigest(DENIED));
});
