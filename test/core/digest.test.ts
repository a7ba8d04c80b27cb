import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/core/digest.ts';

describe('digest', () => {
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ])('gives the SHA-256 of `%s` that FIPS 180-4 gives', (text, expected) => {
    expect(sha256Hex(text)).toBe(expected);
  });

  it('takes a text as its UTF-8 bytes', () => {
    expect(sha256Hex('é😀')).toBe(sha256Hex(Buffer.from('c3a9f09f9880', 'hex')));
  });
});
