import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listSegments } from '../../../../src/analysis/command/analysis.ts';
import { decodeEncodedCommand } from '../../../../src/analysis/command/windows/encoded_command.ts';
import { parseCmd } from '../../../../src/analysis/command/windows/parse_cmd.ts';
import { parsePowerShell } from '../../../../src/analysis/command/windows/parse_powershell.ts';
import { GROWTH_MAX, growthOf, repeated } from '../growth.ts';
import { readVectors } from './support.ts';

const PARSERS = [parseCmd, parsePowerShell];
const commands = readVectors<{ cases: { command: string }[] }>('destructive-commands.json').cases.map(
  ({ command }) => command,
);

/** Pieces that mean something to one of the shells. */
const TOKENS = [
  ...[
    '&',
    '&&',
    '|',
    '||',
    ';',
    '\n',
    '\r\n',
    '(',
    ')',
    '{',
    '}',
    '[',
    ']',
    '"',
    "'",
    '`',
    '^',
    '^\n',
    '`\n',
    '%',
    '!',
  ],
  ...[
    '$',
    '$(',
    '@(',
    '@{',
    "@'\n",
    "\n'@",
    '@"\n',
    '<#',
    '#>',
    '#',
    '>',
    '<',
    '2>&1',
    '=',
    ',',
    '::',
    '.a(',
    ' ',
  ],
  ...[
    'if ',
    'for ',
    'in ',
    'do ',
    'else ',
    'rem ',
    'call ',
    'start ',
    'not ',
    'iex ',
    '$x',
    '$x = ',
    '%a%',
    '%i',
  ],
  ...[
    'function f',
    'class A',
    'switch ',
    'catch [',
    '-x',
    '--% ',
    '/s',
    'a',
    'é',
    '\u2018',
    '\u201c',
    '\u0000',
    '\ud800',
  ],
];
const soup = fc.array(fc.constantFrom(...TOKENS), { maxLength: 60 }).map((tokens) => tokens.join(''));
const mutated = fc
  .tuple(fc.constantFrom(...commands), fc.nat(), fc.nat(4), fc.constantFrom(...TOKENS))
  .map(([command, at, cut, token]) => {
    const place = at % (command.length + 1);
    return command.slice(0, place) + token + command.slice(place + cut);
  });
const anyText = fc.oneof(fc.string({ unit: 'binary' }), soup, mutated);

describe('reading a text of Windows', () => {
  it('answers for any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const parse of PARSERS) {
          const analysis = parse(text);
          expect(analysis.understood).toBe(analysis.problems.length === 0);
          expect(analysis.segments.every(({ inner }) => inner.length === 0)).toBe(true);
          expect(analysis.segments.every(({ understood }) => understood) || !analysis.understood).toBe(true);
        }
        expect(() => decodeEncodedCommand(text)).not.toThrow();
      }),
      { numRuns: 3000 },
    );
  });

  it('shows only what is written, in each segment and word', () => {
    fc.assert(
      fc.property(soup, (text) => {
        const written = parseCmd(text).segments.flatMap((segment) => [
          segment.text,
          ...segment.words.map((word) => word.text),
        ]);
        expect(written.filter((part) => !text.includes(part))).toStrictEqual([]);
      }),
      { numRuns: 2000 },
    );
  });

  it('finds the same words whatever is quoted', () => {
    const safe = fc.stringMatching(/^[a-z][a-z0-9._-]{0,8}$/);
    fc.assert(
      fc.property(fc.array(safe, { minLength: 1, maxLength: 5 }), fc.nat(), (args, at) => {
        const quoted = args.map((arg, index) => (index === at % args.length ? `"${arg}"` : arg));
        for (const parse of PARSERS) {
          const [segment] = listSegments(parse(['tool', ...quoted].join(' ')).segments);
          expect(segment?.words.map(({ value }) => value)).toStrictEqual(['tool', ...args]);
        }
      }),
    );
  });

  const units = [
    ...[
      'a;',
      'a&',
      'a|',
      'a\n',
      '(',
      '{',
      '$(',
      '"$(',
      '"',
      "'",
      '`',
      '^',
      '%',
      '%a%',
      '!',
      '@"\n',
      '@{',
      '<#',
      '#',
    ],
    ...[
      '$a = ',
      '1+',
      '$x.a(',
      'if ',
      'not ',
      'if not ',
      'for %i in (a) do del %i & ',
      '(a)',
      ':',
      'rem ',
      'call ',
    ],
    ...[
      'start /d ',
      'iex "',
      '--% ',
      '\\',
      'a"b',
      '>',
      '2>',
      '[',
      '$x in ',
      'catch [',
      '%~nxi',
      'a,',
      '-x:',
      '\t',
    ],
  ];
  it.each(units)('takes time in proportion to its length: %j again and again', (unit) => {
    for (const parse of PARSERS) {
      expect(growthOf(parse, (length) => repeated(unit, length))).toBeLessThan(GROWTH_MAX);
    }
  });
});
