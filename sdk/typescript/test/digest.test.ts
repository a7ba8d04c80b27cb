import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { freezeToolCall } from '../src/action_spec.ts';
import { chooseSha256Hex, randomToken } from '../src/digest.ts';

interface Vector {
  name: string;
  tool_call: Parameters<typeof freezeToolCall>[0];
  canonical: string;
  action_hash: string;
}

const withNode = chooseSha256Hex(globalThis as Parameters<typeof chooseSha256Hex>[0]);
const withoutNode = chooseSha256Hex({});

/** FIPS 180-4 examples. */
const examples = [
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
] as const;

describe('both digests give SHA-256 of the UTF-8 bytes', () => {
  test.each(examples)('of `%s`', async (text, digest) => {
    expect(withNode(text)).toBe(digest);
    expect(await withoutNode(text)).toBe(digest);
  });

  test('and agree beyond ASCII', async () => {
    const text = 'é☕😀';
    expect(await withoutNode(text)).toBe(withNode(text));
  });
});

test('where node:crypto is at hand the digest answers at once, else with a promise', () => {
  expect(typeof withNode('x')).toBe('string');
  expect(withoutNode('x')).toBeInstanceOf(Promise);
  expect(chooseSha256Hex({ process: { getBuiltinModule: () => undefined } })('x')).toBeInstanceOf(Promise);
});

test('a token is 256 random bits in hex', () => {
  const tokens = Array.from({ length: 50 }, randomToken);
  expect(tokens.every((token) => /^[0-9a-f]{64}$/.test(token))).toBe(true);
  expect(new Set(tokens).size).toBe(50);
});

const vectors: { vectors: Vector[] } = JSON.parse(
  readFileSync(new URL('../../../test/vectors/aegis-jcs-1/canonical-actions.json', import.meta.url), 'utf8'),
);

describe('a tool call freezes to the text and hash of the shared vectors', () => {
  test.each(vectors.vectors)('$name', async (vector) => {
    const text = freezeToolCall(vector.tool_call);
    expect(text).toBe(vector.canonical);
    expect(withNode(text)).toBe(vector.action_hash);
    expect(await withoutNode(text)).toBe(vector.action_hash);
  });
});
