import { describe, expect, it } from 'vitest';
import { analyse } from './analysis_tools.ts';
import { GROWTH_MAX, growthOf, repeated } from './growth.ts';

const UNITS: readonly string[] = [
  ...[
    '(',
    '((',
    '{ ',
    '$(',
    'a $(',
    '"$(',
    '${a:-',
    '$((',
    '<(',
    '`',
    '`\\',
    '"',
    "'",
    "$'",
    '\\',
    '$',
    '[',
    '*(a',
    '{a,',
    '{a,b}',
  ],
  ...[
    'a|',
    'a;',
    'a\n',
    'a&&',
    '! ',
    'if a;then b;fi;',
    '# x\n',
    "a # '\n",
    'time ',
    'coproc ',
    'f(){ a;};',
    '((a));',
    '[[ a ]];',
  ],
  ...[
    'cat <<E\n',
    '<<E ',
    'cat <<E\n$(a)\nE\n',
    '$(a <<E\n)\n',
    'sh <<E\na\nE\n',
    '<<<a ',
    '>b ',
    '&>b c ',
    'a=b ',
    'a=(b c) ',
    '~:',
  ],
  ...[
    '"$(a)"',
    '`a` ',
    "sh -c 'a;b';",
    "eval 'a';",
    'alias a=b;',
    'sudo ',
    'env a=b ',
    'xargs ',
    'ssh h ',
    'find -exec ',
    'cmd /c ',
  ],
  ...[
    'a \\\n',
    'a',
    'é',
    ' ',
    `${'a $('.repeat(14)}b${')'.repeat(14)};`,
    `${'$(('.repeat(14)}b${'))'.repeat(14)};`,
  ],
];

const WHOLE: readonly [name: string, make: (length: number) => string][] = [
  ['digits in a name, then a letter', (length) => `${'1'.repeat(length - 2)}ab`],
  ['digits in a name, then a mark', (length) => `${'1'.repeat(length - 1)}!`],
  ['many -exec of find', (length) => `find . ${repeated('-exec a {} \\; ', length)}`],
  ['a long text of a shell', (length) => `sh -c '${repeated('a;', length)}'`],
  ['a long text of PowerShell', (length) => `powershell -Command "${repeated('a;', length)}"`],
  ['a long text of cmd', (length) => `cmd /c "${repeated('a&', length)}"`],
  ['a long script of sed', (length) => `sed '${repeated('s/a/b/;', length)}'`],
  ['brackets in a script of sed', (length) => `sed 's/${repeated('[', length)}/x/'`],
  ['a long program of awk', (length) => `awk '${repeated('{ print }', length)}'`],
  ['many options', (length) => `sudo ${repeated('-u a ', length)}rm`],
  ['texts inside texts', (length) => repeated(`${'sh -c "$('.repeat(12)}a${')"'.repeat(12)};`, length)],
  ['a long sum', (length) => `echo $((${repeated('1+', length)}1))`],
  ['many words of a case', (length) => `case a in ${repeated('a) b;; ', length)} esac`],
  ['many substitutions in quotes', (length) => `echo "${repeated('$(a)', length)}"`],
];

describe('the time of an analysis grows as its text does:', () => {
  const shapes = [
    ...UNITS.map(
      (unit) => [JSON.stringify(unit.slice(0, 20)), (length: number) => repeated(unit, length)] as const,
    ),
    ...WHOLE,
  ];
  it.each(shapes)(
    '%s',
    (_, make) => {
      expect(growthOf((text) => analyse(text), make)).toBeLessThan(GROWTH_MAX);
    },
    60_000,
  );

  it.each(['a&', '(', '"', '^', '%a% ', 'cmd /c "', 'powershell '])(
    'on Windows, %s',
    (unit) => {
      const run = (text: string): unknown => analyse(text, { cwd: 'C:\\work' });
      expect(growthOf(run, (length) => repeated(unit, length))).toBeLessThan(GROWTH_MAX);
    },
    60_000,
  );
});
