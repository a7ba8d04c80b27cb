import { describe, expect, test } from 'vitest';
import { analyseCommand } from '../../../src/analysis/command/analyse_command.ts';
import { findFloor } from '../../../src/analysis/floor/find_floor.ts';
import { breaksFloor, hitsOf } from './breaks_floor.ts';
import { callOf } from './windows_cases.ts';

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Ways to run a text that are put into each other. */
const WRAPPERS: Readonly<Record<string, (text: string) => string>> = {
  'a shell': (text) => `sh -c ${quote(text)}`,
  eval: (text) => `eval ${quote(text)}`,
  'an encoding that the analysis decodes': (text) =>
    `echo ${Buffer.from(text).toString('base64')} | base64 -d | sh`,
  'one that it does not': (text) =>
    `echo ${Buffer.from([...text].reverse().join('')).toString('base64')} | base64 -d | rev | sh`,
  'cmd of Windows': (text) => `cmd /c ${text}`,
};
const LEVELS = [1, 4, 6, 7, 8, 9, 10];
/** Quotes in quotes double: what gets longer than this tells nothing more. */
const LENGTH_MAX = 65_536;

function nest(text: string, levels: number, wrap: (text: string) => string): string {
  return Array.from({ length: levels }).reduce<string>((inner) => wrap(inner), text);
}

function nested(text: string, most: number): string[] {
  return Object.values(WRAPPERS).flatMap((wrap) =>
    LEVELS.filter((levels) => levels <= most)
      .map((levels) => nest(text, levels, wrap))
      .filter(({ length }) => length <= LENGTH_MAX),
  );
}

/** What costs so much to work out that nothing is left for what follows. */
function costly(filters: number): string {
  return `echo ${'a'.repeat(60_000)}${'|rev'.repeat(filters)}`;
}
const REVERSED = (text: string) => `echo ${quote([...text].reverse().join(''))} | rev | sh`;

describe('texts within texts', () => {
  test('hide no command, however deep they are nested', () => {
    for (const command of ['rm -rf /', 'reboot', 'kill -9 -1', 'mkfs.ext4 /dev/sda']) {
      expect(nested(command, 10).filter((text) => !breaksFloor({ command: text }))).toEqual([]);
    }
  });

  test('hide no command of Windows', () => {
    const { eval: evaluate, 'a shell': shell, 'cmd of Windows': cmd } = WRAPPERS;
    for (const wrap of [evaluate, shell, cmd]) {
      if (wrap === undefined) throw new Error('a wrapper is missing');
      const texts = LEVELS.map((levels) => nest('format C:', levels, wrap));
      const short = texts.filter(({ length }) => length <= LENGTH_MAX);
      expect(short.filter((text) => !breaksFloor({ command: text }))).toEqual([]);
    }
  });

  test('hide no command in an argument vector', () => {
    const judge = (argv: string[]) => {
      const call = callOf('', { argv });
      return findFloor(call, analyseCommand(call)).length > 0;
    };
    const wrapped = (words: string[]) => [
      ...Array.from({ length: 12 }, () => ['cmd', '/c']).flat(),
      ...words,
    ];
    expect(judge(wrapped(['format', 'C:']))).toBe(true);
    expect(judge(wrapped(['reboot']))).toBe(true);
    expect(judge(wrapped(['npm', 'run', 'build']))).toBe(false);
  });

  test('raise no alarm of themselves while they can be looked into', () => {
    for (const command of ['rm -rf build', 'npm run format', 'git commit -m shutdown']) {
      expect(nested(command, 6).filter((text) => breaksFloor({ command: text }))).toEqual([]);
    }
  });

  test('hide no command in substitutions of a text that cannot be read', () => {
    const broken = (command: string) => `${nest(command, 9, (text) => `echo "$(${text})"`)}; if then`;
    expect(breaksFloor({ command: broken('rm -rf /') })).toBe(true);
    expect(breaksFloor({ command: broken('rm -rf build') })).toBe(false);
  });
});

describe('a command that costs too much to be looked into', () => {
  test('is judged by a rough look at what it would run', () => {
    const [hit] = hitsOf({ command: `${costly(20)}; ${REVERSED('rm -rf /')}` });
    expect(hit?.rule).toBe('recursive-delete-of-root');
    expect(hitsOf({ command: `${costly(20)}; ${REVERSED('rm -rf build')}` })).toEqual([]);
  });

  test('is refused where not even that can tell what a shell would run', () => {
    expect(hitsOf({ command: `${costly(200)}; ${REVERSED('rm -rf build')}` })).toEqual([
      { rule: 'hidden-script', text: 'sh' },
    ]);
    expect(hitsOf({ command: `${costly(200)}; ls | sort; sh build.sh` })).toEqual([]);
  });

  test('is none for being long: an ordinary script of 100 KiB with texts in it breaks nothing', () => {
    const lines = Array.from(
      { length: 1500 },
      (_, at) => `mkdir -p out/${at} && cp src/${at}/*.txt out/${at}; sh -c "gzip out/${at}/*"`,
    );
    expect(hitsOf({ command: lines.join('\n') })).toEqual([]);
  });
});
