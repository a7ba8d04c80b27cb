import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findUnsafeText,
  normalizeIdentifier,
  parsePrincipal,
  TENANT_ID,
} from '../../src/core/identifiers.ts';
import { readJsonVector, readVector } from './vectors.ts';

interface InvisibleCharacter {
  code_point: string;
  name: string;
  category: string;
  properties: string[];
}
interface Invisibles {
  characters: InvisibleCharacter[];
  ranges: Record<string, string[]>;
}

const invisibles = readJsonVector<Invisibles>('unicode/invisible-and-bidi-characters.json');

function charOf(codePoint: string): string {
  return String.fromCodePoint(Number.parseInt(codePoint.replace('U+', ''), 16));
}

/** Both ends of every range of a Unicode property. */
function endsOf(property: string): string[] {
  return (invisibles.ranges[property] ?? []).flatMap((range) => range.split('..').map(charOf));
}

function normalOf(raw: string): string | undefined {
  const result = normalizeIdentifier(raw);
  return result.kind === 'normal' ? result.normal : undefined;
}

describe('the normal form of an identifier', () => {
  it.each([
    ['crm', 'crm'],
    ['CRM', 'crm'],
    [' CRM ', 'crm'],
    ['%63rm', 'crm'],
    ['%20%43RM\u00a0', 'crm'],
    ['read_customer.v2', 'read_customer.v2'],
    ['mcp__files/write', 'mcp__files/write'],
    ['two words', 'two words'],
    ['cafe\u0301', 'café'],
    ['caf%C3%A9', 'café'],
    ['cafe%CC%81', 'café'],
    ['ΑΣ', 'ας'],
  ])('of `%s` is `%s`', (raw, normal) => {
    expect(normalizeIdentifier(raw)).toStrictEqual({ kind: 'normal', normal });
  });

  it.each([
    ['empty', '', 'is empty'],
    ['only space', ' %20 \u3000', 'is empty'],
    ['escapes left after one decoding', '%2563rm', 'percent sign'],
    ['a percent sign left', '100%25', 'percent sign'],
    ['a malformed escape', '%6', 'malformed'],
    ['an escape that is no hex', '%zz', 'malformed'],
    ['escapes that are no UTF-8', '%ff', 'malformed'],
    ['an escaped surrogate', '%ed%a0%80', 'malformed'],
    ['a zero-width space', 'cr\u200bm', 'invisible'],
    ['an escaped zero-width space', 'cr%e2%80%8bm', 'escaped control'],
    ['a right-to-left override', 'cr\u202em', 'bidi'],
    ['an escaped override', 'cr%E2%80%AEm', 'escaped control'],
    ['a tab around it', '\tcrm', 'control'],
    ['an escaped NUL', 'crm%00', 'escaped control'],
    ['an unassigned character', 'crm\u0378', 'unassigned'],
    ['a noncharacter', 'crm\uffff', 'unassigned'],
    ['a private-use character', 'crm\ue000', 'control'],
    ['a lone surrogate', 'crm\ud800', 'control'],
  ])('is refused: %s', (_, raw, reason) => {
    expect(normalizeIdentifier(raw)).toStrictEqual({
      kind: 'refused',
      reason: expect.stringContaining(reason),
    });
  });

  it('has at most 128 characters, counted as code points after normalisation', () => {
    expect(normalOf('a'.repeat(128))).toBe('a'.repeat(128));
    expect(normalOf('a'.repeat(129))).toBeUndefined();
    expect(normalOf(` ${'e\u0301'.repeat(128)} `)).toBe('é'.repeat(128));
    expect(normalOf('%F0%90%90%A8'.repeat(128))).toBe('𐐨'.repeat(128));
    expect(normalOf(`${' '.repeat(3_000)}crm`)).toBeUndefined();
  });

  it.each(invisibles.characters.filter(({ category }) => category !== 'Zs'))(
    'has no $code_point $name, plain or escaped',
    ({ code_point }) => {
      const char = charOf(code_point);
      expect(normalOf(`cr${char}m`)).toBeUndefined();
      expect(normalOf(`crm${char}`)).toBeUndefined();
      expect(normalOf(`cr${encodeURIComponent(char)}m`)).toBeUndefined();
    },
  );

  it.each(['Bidi_Control', 'Default_Ignorable_Code_Point', 'Noncharacter_Code_Point', 'private_use'])(
    'has no character of %s',
    (property) => {
      const ends = endsOf(property);
      expect(ends.length).toBeGreaterThan(0);
      expect(ends.filter((char) => normalOf(`a${char}`) !== undefined)).toStrictEqual([]);
    },
  );

  it('is NFC for every sampled line of the Unicode normalisation test', () => {
    const lines = readVector('unicode/normalization-test-slice.txt').toString('utf8').split('\n');
    const cases = lines.filter((line) => /^[0-9A-F]/.test(line)).map((line) => line.split(';', 2));
    const wrong = cases.filter(([source = '', nfc = '']) => {
      const [raw, composed] = [source, nfc].map((points) => points.split(' ').map(charOf).join(''));
      return normalOf(`a${raw}`) !== normalOf(`a${composed}`);
    });
    expect(cases.length).toBeGreaterThan(1_000);
    expect(wrong).toStrictEqual([]);
  });

  it('is its own normal form, for any text', () => {
    const visible = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 40 })
      .map((binary) => `x${binary.replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{Zs}]|%/gu, '')}`);
    fc.assert(
      fc.property(visible, (raw) => {
        const normal = normalOf(encodeURIComponent(raw));
        fc.pre(normal !== undefined);
        expect(normalOf(raw)).toBe(normal);
        expect(normalOf(normal ?? '')).toBe(normal);
        expect(normalOf(` ${encodeURIComponent(normal ?? '')}`)).toBe(normal);
      }),
      { numRuns: 500 },
    );
  });
});

describe('context text', () => {
  it.each(['customer asked twice', 'repo:payments', 'déjà vu ☕ 👩‍👩‍👧', '٣ ١', 'a\u00a0b'])(
    'is safe: %s',
    (text) => {
      expect(findUnsafeText(text)).toBeUndefined();
    },
  );

  it.each([
    ['a line break', 'a\nb', 'control'],
    ['a carriage return', 'a\rb', 'control'],
    ['a tab', 'a\tb', 'control'],
    ['an escape character', '\u001b[2J', 'control'],
    ['a C1 control', '\u0085', 'control'],
    ['a line separator', '\u2028', 'control'],
    ['an override', 'a\u202eb', 'bidi'],
    ['an isolate', '\u2066', 'bidi'],
    ['an arabic letter mark', '\u061c', 'bidi'],
    ['a lone surrogate', '\ud83d', 'lone_surrogate'],
  ])('is unsafe with %s', (_, text, reason) => {
    expect(findUnsafeText(text)).toBe(reason);
  });

  it('is unsafe with any bidi control', () => {
    expect(endsOf('Bidi_Control').map((char) => findUnsafeText(`a${char}`))).toStrictEqual(
      Array(8).fill('bidi'),
    );
  });
});

describe('principals and tenants', () => {
  it('compares principals in lower case', () => {
    expect(parsePrincipal('Ann.O-Hara_1@Example.COM:eu')).toBe('ann.o-hara_1@example.com:eu');
    expect(parsePrincipal('a'.repeat(128))).toBe('a'.repeat(128));
  });

  it.each(['-', '_.', '._', '.a', 'a.', '...', '..a', '.'.repeat(128)])(
    'takes `%s`, which no path takes for a step, as a principal',
    (raw) => {
      expect(parsePrincipal(raw)).toBe(raw);
    },
  );

  it.each(['', '.', '..', 'a'.repeat(129), 'a b', 'a\n', '..\n', 'é', 'a/b', '\u212a', 'ı', 'a\u200b'])(
    'refuses the principal `%s`',
    (raw) => {
      expect(parsePrincipal(raw)).toBeUndefined();
    },
  );

  it.each(['a', 'default', 'team-7', '0'.repeat(63)])('knows the tenant id %s', (text) => {
    expect(TENANT_ID.test(text)).toBe(true);
  });

  it.each(['', 'A', 'a_b', 'a b', '0'.repeat(64), 'a\n', 'é'])('refuses the tenant id `%s`', (text) => {
    expect(TENANT_ID.test(text)).toBe(false);
  });
});
