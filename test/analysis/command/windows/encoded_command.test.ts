import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEncodedCommand } from '../../../../src/analysis/command/windows/encoded_command.ts';
import { readVectors } from './support.ts';

interface EncodedCases {
  cases: { command: string; decoded: string | null }[];
}

const { cases } = readVectors<EncodedCases>('powershell-encoded.json');

describe('an encoded command', () => {
  it.each(cases)('is decoded as published: $command', ({ command, decoded }) => {
    const argument = /([A-Za-z0-9+/=]{20,})"?$/.exec(command)?.[1];
    expect(argument === undefined ? null : decodeEncodedCommand(argument)).toBe(decoded);
  });

  it.each([
    ['other characters', 'YQA*'],
    ['the alphabet of URLs', 'YQ_-'],
    ['white space', 'YQBi AA=='],
    ['missing padding', 'YQBiAA'],
    ['padding inside', 'YQ==YQ=='],
    ['an odd number of bytes', 'YQ=='],
    ['an unpaired surrogate', Buffer.from('\ud800', 'utf16le').toString('base64')],
    ['nothing', ''],
  ])('is none with %s', (_, text) => {
    expect(decodeEncodedCommand(text)).toBeNull();
  });

  it('is what was encoded, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
        expect(decodeEncodedCommand(Buffer.from(text, 'utf16le').toString('base64'))).toBe(text);
      }),
    );
  });
});
