import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listExecutables, listSegments } from '../../../src/analysis/command/analysis.ts';
import { parsePosix } from '../../../src/analysis/command/posix/parse_posix.ts';
import { analyse, executables, vectorCases } from './analysis_tools.ts';
import { mutatedVector, shellSoup, VECTOR_TEXTS } from './shell_texts.ts';

const SAFE_LETTERS = [...'abcdefgmrstuxyzABZ0189_./:,@%+-'];
const safeWord = fc
  .array(fc.constantFrom(...SAFE_LETTERS), { minLength: 1, maxLength: 12 })
  .map((letters) => letters.join(''));

/** One word, quoted piece by piece in ways that mean the same. */
function quotings(word: string): fc.Arbitrary<string> {
  const piece = (text: string) =>
    fc.constantFrom(
      `'${text}'`,
      `"${text}"`,
      `$'${text}'`,
      [...text].map((letter) => `\\${letter}`).join(''),
      `$'${[...text].map((letter) => `\\x${letter.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')}'`,
      `""${text}''`,
    );
  return fc
    .array(fc.nat({ max: word.length }), { maxLength: 3 })
    .chain((cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), word.length];
      const parts = at.slice(1).map((end, index) => word.slice(at[index], end));
      return fc.tuple(...parts.map((part) => (part === '' ? fc.constant('') : piece(part))));
    })
    .map((parts) => parts.join(''));
}

/** Wrappers that run the words after them. */
const BEFORE: readonly string[] = [
  ...[
    'sudo',
    'sudo -u root --',
    'env A=1',
    'nohup',
    'timeout 5',
    'nice -n 1',
    'time',
    '/usr/bin/time -v',
    'setsid',
  ],
  ...['stdbuf -oL', 'xargs', 'xargs -n 1', 'command', 'exec', 'busybox', 'chroot /mnt', 'unshare -r', 'doas'],
  ...['ionice -c 3', 'strace -f', 'flock /tmp/l', 'ssh host', 'watch', 'eval', 'script -q log', 'repeat 2'],
];

/** Wrappers, with the place where a command stands in them. */
const WRAPPERS: readonly ((command: string) => string)[] = [
  ...BEFORE.map((words) => (command: string) => `${words} ${command}`),
  (command) => `find . -exec ${command} {} \\;`,
  (command) => `sh -c '${command}'`,
  (command) => `bash -lc "${command}"`,
  (command) => `su root -c '${command}'`,
  (command) => `trap '${command}' EXIT`,
  (command) => `echo $(${command})`,
  (command) => `echo \`${command}\``,
  (command) => `(${command})`,
  (command) => `{ ${command}; }`,
  (command) => `if ${command}; then :; fi`,
  (command) => `ls | ${command} && pwd`,
  (command) => `sh <<E\n${command}\nE`,
  (command) => `sh <<< '${command}'`,
  (command) => `x=$(${command}) ls`,
  (command) => `cat <(${command})`,
  (command) => `! ${command} &`,
];

describe('whatever the text,', () => {
  it('an analysis is given, and understood only when every executable has a value', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), shellSoup(), mutatedVector()),
        (text) => {
          const analysis = analyse(text);
          const isKnown = listExecutables(analysis).every(({ value }) => value !== null && value !== '');
          const isWhole = listSegments(analysis.segments).every(({ understood }) => understood);
          expect(analysis.understood).toBe(
            analysis.understood && isKnown && isWhole && analysis.problems.length === 0,
          );
          expect(analysis.understood).toBe(analysis.problems.length === 0);
        },
      ),
      { numRuns: 1500 },
    );
  });

  it('it has the same analysis each time', () => {
    for (const text of VECTOR_TEXTS.slice(0, 300)) expect(analyse(text)).toStrictEqual(analyse(text));
  });

  it('an argument vector is one segment of those words', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 }), (argv) => {
        const { segments } = analyse('', { argv });
        expect(segments.map(({ words }) => words.map(({ value }) => value))).toStrictEqual([argv]);
      }),
    );
  });
});

describe('quoting a safe word', () => {
  it('never changes the executables found', () => {
    const line = fc
      .tuple(
        fc.constantFrom('rm', 'sudo', 'env', 'nice', '/bin/ls'),
        safeWord,
        fc.constantFrom('rm', 'sh', 'cat'),
      )
      .chain(([first, second, third]) =>
        fc.tuple(
          fc.constant([first, second, third]),
          fc.tuple(quotings(first), quotings(second), quotings(third)),
        ),
      );
    fc.assert(
      fc.property(line, ([plain, quoted]) => {
        expect(executables(analyse(quoted.join(' ')))).toStrictEqual(executables(analyse(plain.join(' '))));
        expect(analyse(quoted.join(' ')).understood).toBe(analyse(plain.join(' ')).understood);
      }),
      { numRuns: 500 },
    );
  });

  it('gives the word', () => {
    fc.assert(
      fc.property(
        safeWord.chain((word) => fc.tuple(fc.constant(word), quotings(word))),
        ([word, quoted]) => {
          expect(parsePosix(`echo ${quoted}`).segments[0]?.words[1]?.value).toBe(word);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('wrapping a command', () => {
  it.each(WRAPPERS.map((wrap) => [wrap('rm -rf x'), wrap] as const))('still finds it: %s', (_, wrap) => {
    const found = executables(analyse(wrap('rm -rf x')));
    expect(found).toContain('rm');
    expect(executables(analyse(wrap('/bin/r\\m -rf x')))).toContain('/bin/rm');
  });

  it('in two wrappers still finds it', () => {
    for (const outer of WRAPPERS) {
      for (const inner of BEFORE) {
        const text = outer(`${inner} rm -rf x`);
        expect(executables(analyse(text)), text).toContain('rm');
      }
    }
  });

  it('never loses what its plain commands run', () => {
    interface Case {
      command: string;
      segments: string[][];
    }
    for (const { command, segments } of vectorCases<Case>('nl2bash-plain.json').slice(0, 400)) {
      const quoted = `'${command.replaceAll("'", "'\\''")}'`;
      const found = executables(analyse(`sudo bash -c ${quoted}`));
      for (const [name = ''] of segments) expect(found).toContain(name);
    }
  });
});
