import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { showText } from '../../../src/analysis/review/show_text.ts';

const VECTORS = new URL('../../vectors/unicode/', import.meta.url);

function readVectors<T>(name: string, member = 'cases'): T[] {
  return JSON.parse(readFileSync(new URL(name, VECTORS), 'utf8'))[member];
}

const PROSE = { mayRunLeft: true, isToken: false };
const MACHINE = { mayRunLeft: false, isToken: false };
const TOKEN = { mayRunLeft: false, isToken: true };
const ALL = [PROSE, MACHINE, TOKEN];

const UNSAFE =
  /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}]|(?! )\p{Zs}/u;

/** The text that a shown one stands for. */
function decode(shown: string): string {
  return shown.replace(/\\u\{([0-9a-f]+)\}/g, (_, hex) => String.fromCodePoint(Number.parseInt(hex, 16)));
}

const show = (text: string) => showText(text, MACHINE).text;
const reasons = (text: string, options = MACHINE) => [...showText(text, options).escaped.keys()];

/** Texts full of what this is about. */
const nastyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
      fc.constantFrom('\\', '\\u', '\\u{', '\\u{5c}', '\\u{202e}', '}', 'u{', '\u202e', '\u200b', '\n', ' '),
      fc.constantFrom(
        '\u0435',
        '\u0440',
        'a',
        'p',
        '\u0301',
        '\u0338',
        'e',
        '\u05d0',
        '\u0627',
        '1',
        '\u4e00',
        '\uff1b',
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))
  .filter((text) => !/\p{Surrogate}/u.test(text));

describe('a shown text', () => {
  test('has no control, bidi, invisible or unassigned character, and is in normal form C', () => {
    fc.assert(
      fc.property(nastyText, fc.constantFrom(...ALL), (text, options) => {
        const shown = showText(text, options).text;
        expect(shown).not.toMatch(UNSAFE);
        expect(shown.normalize('NFC')).toBe(shown);
        expect(/^\p{M}/u.test(shown)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test('stands for one text only', () => {
    fc.assert(
      fc.property(nastyText, fc.constantFrom(...ALL), (text, options) => {
        expect(decode(showText(text, options).text)).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  test('has none of the characters that vectors list as invisible or bidi', () => {
    const cases = readVectors<{ escape: string }>('invisible-and-bidi-characters.json', 'characters');
    expect(cases.length).toBeGreaterThan(150);
    for (const { escape: written } of cases) {
      const character = JSON.parse(`"${written}"`);
      const expected = character === ' ' ? 'a b' : expect.stringMatching(/^a\\u\{[0-9a-f]+\}b$/);
      expect(show(`a${character}b`)).toStrictEqual(expected);
    }
  });

  test('has the look-alikes of ascii that vectors list as escapes where they stand in a latin word', () => {
    const cases = readVectors<{ char: string; looks_like: string }>('confusables-ascii.json');
    const shownAsTheyAre = cases
      .filter(({ looks_like }) => looks_like.length === 1)
      .filter(({ char }) => !show(`a${char}a`).includes('\\u{'));
    expect(cases.length).toBeGreaterThan(1_500);
    expect(shownAsTheyAre).toStrictEqual([]);
  });

  test('keeps nothing of what trojan sources hide with', () => {
    const cases = readVectors<{ line: string; has_bidi_control: boolean; attack: string }>(
      'trojan-source-lines.json',
    );
    for (const { line, attack } of cases) {
      const shown = show(line);
      expect(shown).not.toMatch(UNSAFE);
      expect({ attack, line, isEscaped: /\\u\{(?!9\})/.test(shown) }).toMatchObject({ isEscaped: true });
    }
  });

  test('shows all that is concealed', () => {
    for (const { text } of readVectors<{ text: string }>('concealed-text.json')) {
      expect(show(text)).not.toMatch(UNSAFE);
      expect(decode(show(text))).toBe(text);
    }
  });

  test('stands for each naughty string', () => {
    const strings = readVectors<string>('big-list-of-naughty-strings.json', 'strings');
    expect(strings.length).toBeGreaterThan(400);
    for (const text of strings) expect(decode(show(text))).toBe(text);
  });
});

describe('a shown text leaves', () => {
  test.each([
    ['ascii', 'rm -rf "$HOME"/x && echo 100% # done\\n'],
    ['backslashes', 'C:\\users\\new \\u0041 \\x41 \\{ \\u'],
    ['accents of latin', 'caf\u00e9 na\u00efve \u00c5ngstr\u00f6m Stra\u00dfe'],
    [
      'words of one other script',
      '\u041f\u0440\u0438\u0432\u0435\u0442, \u043a\u043b\u0438\u0435\u043d\u0442',
    ],
    ['greek', '\u03ba\u03b1\u03bb\u03b7\u03bc\u03ad\u03c1\u03b1'],
    ['japanese with latin', '\u4f7f\u7528API\u30c6\u30b9\u30c8'],
    ['full-width marks in chinese prose', '\u4f60\u597d\uff0c\u4e16\u754c\uff01'],
    ['emoji', '\u{1f600} \u{1f680}'],
  ])('%s as they are', (_, text) => {
    expect(showText(text, MACHINE)).toStrictEqual({ text, escaped: new Map() });
  });

  test('hebrew prose as it is, and escapes it beside digits, latin letters and in what machines read', () => {
    const text = '\u05e9\u05dc\u05d5\u05dd, \u05e2\u05d5\u05dc\u05dd';
    expect(showText(text, PROSE).text).toBe(text);
    for (const [mixed, options] of [
      [`${text} 5`, PROSE],
      [`a ${text}`, PROSE],
      [`${text}\n`, PROSE],
      [text, MACHINE],
    ] as const) {
      const shown = showText(mixed, options);
      expect(shown.text).not.toMatch(/[\u0590-\u05ff]/);
      expect(shown.escaped.has('bidi_characters')).toBe(true);
    }
  });
});

describe('a shown text escapes, and says why:', () => {
  test.each([
    ['control_characters', 'a\nb\tc', 'a\\u{a}b\\u{9}c'],
    ['control_characters', '\u001b[31m', '\\u{1b}[31m'],
    ['control_characters', 'a\u2028b', 'a\\u{2028}b'],
    ['bidi_characters', 'a\u202eb', 'a\\u{202e}b'],
    ['invisible_characters', 'a\u200bb', 'a\\u{200b}b'],
    ['invisible_characters', 'a\u00a0b', 'a\\u{a0}b'],
    ['invisible_characters', 'a\u{e0041}b', 'a\\u{e0041}b'],
    ['invisible_characters', '\u0301a', '\\u{301}a'],
    ['invisible_characters', '/\u0338a', '/\\u{338}a'],
    ['invisible_characters', 'o\u0338', 'o\\u{338}'],
    ['invisible_characters', '\u2764\ufe0f', '\u2764\\u{fe0f}'],
    ['confusable_characters', '\u0430', '\\u{430}'],
    ['confusable_characters', '\u0441\u043e\u0440\u0435', '\\u{441}\\u{43e}\\u{440}\\u{435}'],
    ['confusable_characters', 'g\u0131thub', 'g\\u{131}thub'],
    ['confusable_characters', '\uff41\uff42', '\\u{ff41}\\u{ff42}'],
    ['confusable_characters', 'it\u2019s', 'it\\u{2019}s'],
    ['confusable_characters', 'a\u2044b', 'a\\u{2044}b'],
    ['confusable_characters', 'cafe\u0301', 'cafe\\u{301}'],
    ['confusable_characters', '\u212b', '\\u{212b}'],
    ['mixed_scripts', 'p\u0430ypal', 'p\\u{430}ypal'],
    ['mixed_scripts', '\u0431\u0440\u0430vo', '\\u{431}\\u{440}\\u{430}vo'],
  ])('%s', (reason, text, shown) => {
    expect(show(text)).toBe(shown);
    expect(reasons(text)).toStrictEqual([reason]);
  });

  test('what looks like an escape, without a warning', () => {
    expect(showText('\\u{202e}', MACHINE)).toStrictEqual({ text: '\\u{5c}u{202e}', escaped: new Map() });
    expect(show('\\\\u{a}')).toBe('\\\\u{5c}u{a}');
  });

  test('marks that pile up', () => {
    expect(show(`x${'\u0316'.repeat(6)}`)).toBe(`x${'\u0316'.repeat(4)}\\u{316}\\u{316}`);
  });
});

test('the time to show a text is linear in its length', () => {
  const measure = (length: number): number => {
    const text = 'a\u0430\u0316\u05d0 \\u{\uff0c\u4e00'.repeat(length / 9);
    const start = performance.now();
    for (let run = 0; run < 3; run += 1) showText(text, PROSE);
    return performance.now() - start;
  };
  measure(16_384);
  expect(measure(262_144)).toBeLessThan(measure(32_768) * 40 + 50);
});
