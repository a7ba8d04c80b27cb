import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EXECUTABLES_MAX } from '../../../src/analysis/allowlist/judge_allowlist.ts';
import type { CommandCall } from '../../../src/core/command_call.ts';
import { callOf, cpuMs, judge, resolvedCallOf } from './support.ts';

interface Scenario {
  allowlist: string[];
  command: string;
  allowed: boolean;
  platform?: string;
}

const VECTORS = new URL('../../vectors/shell/allowlist-matching.json', import.meta.url);
const DIFFERENCES = new URL('allowlist_differences.json', import.meta.url);
const { scenario_cases: SCENARIOS } = JSON.parse(readFileSync(VECTORS, 'utf8')) as {
  scenario_cases: Scenario[];
};
const { scenario_cases: LISTED } = JSON.parse(readFileSync(DIFFERENCES, 'utf8')) as {
  scenario_cases: { command: string; allowed: boolean; reason: string }[];
};

const BIN = '/opt/bin';

function judgeScenario({ allowlist, command, platform }: Scenario) {
  const patterns = allowlist.map((pattern) => pattern.replace('<bin>', BIN));
  const text = command.replace('<bin>', BIN);
  const folder = platform === 'win32' ? 'C:/bin' : allowlist[0]?.startsWith('<bin>') ? BIN : '/usr/bin';
  return judge(resolvedCallOf(text, folder), patterns);
}

describe('the vectors', () => {
  test.each(SCENARIOS)('$command', (scenario) => {
    const listed = LISTED.find(({ command }) => command === scenario.command);
    expect(judgeScenario(scenario).matched).toBe(listed?.allowed ?? scenario.allowed);
  });

  test('differ where a difference is listed, with its reason', () => {
    for (const { command, allowed, reason } of LISTED) {
      expect(SCENARIOS.find((scenario) => scenario.command === command)?.allowed).toBe(!allowed);
      expect(reason).toMatch(/\w{3}/);
    }
  });
});

const ANY = ['/**', '~/**', 'C:/**'];
const misses = (call: CommandCall, patterns: readonly string[] = ANY) =>
  judge(call, patterns).misses.map(({ code }) => code);

describe('a command is covered', () => {
  test.each([
    'jq .',
    "jq '.a > 1' a.json",
    'jq "a; b | c && d" x',
    'grep x a | sort | uniq -c',
    'grep x a && wc a || head a; tail a',
    'grep x a & wc a',
    '! grep x a',
    'jq . # and so on',
    'jq \\\n .',
    'ls *.txt ~/a {a,b}',
    `ls "$HOME"/a \${HOME}`,
    "printf '%s' a",
    '/usr/bin/jq .',
    'sudo jq .',
    'nice -n 5 jq .',
  ])('when each of its executables is listed: %s', (command) => {
    const verdict = judge(resolvedCallOf(command), ['/usr/bin/*']);
    expect(verdict).toMatchObject({ matched: true, misses: [] });
    expect(verdict.uses).toMatchObject([{ entryId: 'of /usr/bin/*' }]);
  });

  test('by the first entry that matches each path, named once', () => {
    const call = resolvedCallOf('grep x | wc | grep y');
    expect(judge(call, ['/usr/bin/w*', '/usr/bin/grep', '/usr/bin/*']).uses).toEqual([
      { entryId: 'of /usr/bin/grep', resolvedPath: '/usr/bin/grep' },
      { entryId: 'of /usr/bin/w*', resolvedPath: '/usr/bin/wc' },
    ]);
  });

  test('as an argument vector, in which nothing is syntax', () => {
    const argv = ['jq', '$(x) > `y` \n | z; (a)'];
    const call = callOf("jq '…'", { argv, resolvedPaths: ['/usr/bin/jq'] });
    expect(judge(call, ['/usr/bin/jq']).matched).toBe(true);
    const windows = callOf('git status', { argv: ['git', 'status'], resolvedPaths: ['C:\\Tools\\Git.EXE'] });
    expect(judge(windows, ['c:/tools/git.exe']).matched).toBe(true);
  });

  test('with script files whose digests are stated', () => {
    const call = resolvedCallOf('bash deploy.sh');
    expect(misses(call)).toEqual(['not_bound']);
    expect(misses({ ...call, fileDigests: { 'deploy.sh': 'a'.repeat(64) } })).toEqual([]);
  });

  test('but not when one is missing from the list', () => {
    const verdict = judge(resolvedCallOf('grep x | wc'), ['/usr/bin/grep']);
    expect(verdict).toEqual({
      matched: false,
      uses: [],
      misses: [{ code: 'not_listed', text: 'no entry matches `/usr/bin/wc`' }],
    });
    expect(judge(resolvedCallOf('jq .'), []).matched).toBe(false);
  });
});

describe('whatever is listed, no command is covered', () => {
  test.each([
    ['a redirection', 'jq . > a'],
    ['a redirection of input', 'jq . < a'],
    ['a here-document', 'jq . <<E\nx\nE'],
    ['a here-string', 'jq . <<< x'],
    ['a command substitution', 'jq "$(jq .)"'],
    ['a backtick', 'jq `jq .`'],
    ['a process substitution', 'jq <(jq .)'],
    ['an arithmetic expansion', 'jq $((1+a))'],
    ['a subshell', '(jq .)'],
    ['a group', '{ jq .; }'],
    ['a loop', 'for x in a; do jq .; done'],
    ['a function', 'f() { jq .; }; f'],
    ['a newline', 'jq .\njq .'],
    ['a carriage return', 'jq .\r'],
    ['a carriage return within quotes', "jq '.\r'"],
    ['an expansion with a default', `jq \${x:-a}`],
    ['an expansion that is run', `jq "\${x@P}"`],
    ['what a wrapped shell reads', "sh -c 'jq . > a'"],
  ])('with %s', (_, command) => {
    expect(judge(resolvedCallOf(command), ANY).matched).toBe(false);
  });

  test.each([
    'cd /tmp; ./jq',
    'export PATH=/tmp; jq .',
    'hash -p /tmp/x jq; jq .',
    'alias jq=/tmp/x; jq .',
    '. ./env; jq .',
    'eval jq .',
    'read x; jq .',
    "printf -v 'a[$(id)]' x",
    "test -v 'a[$(id)]'",
    'find . $X',
    'xargs $X',
    'find . *',
    'sudo $X jq .',
    'git $X',
    'sed $X a',
    'tar $X a',
    'ssh $X',
    'make $X',
    'busybox $X',
  ])('that could give its words another meaning: %s', (command) => {
    expect(judge(resolvedCallOf(command), ANY).matched).toBe(false);
  });

  test.each(['$TOOL x', 'jq .; $(x)', 'jq "', '~/bin/$x', 'j* x', '{jq,x} a', ''])(
    'that is not understood, or runs nothing: %s',
    (command) => {
      expect(judge(callOf(command, { resolvedPaths: ['/usr/bin/jq'] }), ANY).matched).toBe(false);
    },
  );

  test('with an environment or an assignment', () => {
    expect(misses({ ...resolvedCallOf('jq .'), env: { A: 'b' } })).toEqual(['not_bound']);
    expect(misses(resolvedCallOf('A=b jq .'))).toEqual(['not_bound']);
    expect(misses(callOf('A=b', { resolvedPaths: [] }))).toEqual(['no_executable']);
  });

  test('that a shell of Windows reads', () => {
    for (const command of ['git status', 'git "$(id)"', 'git status; id']) {
      expect(misses(callOf(command, { resolvedPaths: ['C:/Users/x/git.exe'] }))).toContain(
        'blocked_construct',
      );
    }
    const argv = ['cmd', '/c', 'git status'];
    const resolvedPaths = ['C:/Windows/cmd.exe', 'C:/Tools/git.exe'];
    expect(misses(callOf('cmd', { argv, resolvedPaths }))).toContain('blocked_construct');
  });

  test('with paths so long that holding them against the list would take seconds', () => {
    const command = Array.from({ length: EXECUTABLES_MAX }, (_, index) => `t${index}`).join('; ');
    const call = resolvedCallOf(command, `/${'a/'.repeat(1500)}x`);
    const patterns = Array.from({ length: 10_000 }, () => '/**/a/**/*');
    expect(misses(call, [...patterns, '/b/**/*', '/**/c/*'])).toEqual([]);
    expect(
      misses(
        call,
        patterns.map((pattern) => `${pattern}z`),
      ),
    ).toEqual(['too_long']);
  });

  test('of more executables than a person would list', () => {
    const chain = (length: number) => Array.from({ length }, () => 'jq .').join('; ');
    expect(misses(resolvedCallOf(chain(EXECUTABLES_MAX)))).toEqual([]);
    expect(misses(resolvedCallOf(chain(EXECUTABLES_MAX + 1)))).toEqual(['too_many_executables']);
  });
});

describe('resolved paths', () => {
  test.each([
    ['none are stated', null],
    ['one is missing', ['/usr/bin/grep']],
    ['there is one too many', ['/usr/bin/grep', '/usr/bin/wc', '/usr/bin/wc']],
  ])('cover nothing when %s', (_, resolvedPaths) => {
    expect(misses(callOf('grep x | wc', { resolvedPaths }))).toEqual(['paths_not_stated']);
  });

  test.each([
    ['jq .', '/usr/bin/jq2'],
    ['jq .', '/usr/bin/JQ'],
    ['jq .', 'jq'],
    ['jq .', './jq'],
    ['jq .', '/usr/bin/../jq'],
    ['jq .', '/usr/bin//jq'],
    ['jq .', '/usr/bin/jq/'],
    ['jq .', '/usr/bin/jq.exe'],
    ['/usr/bin/jq .', '/opt/bin/jq'],
    ['/usr/bin/../bin/jq .', '/usr/bin/jq'],
    ['/usr//bin/jq .', '/usr/bin/jq'],
    ['./x/jq .', '/usr/bin/jq2'],
    ['jq .', ''],
  ])('must name what the command does: %s is not %s', (command, path) => {
    expect(misses(callOf(command, { resolvedPaths: [path] }))).toEqual(['path_differs']);
  });

  test('stand in the order of the executables', () => {
    const paths = ['/usr/bin/wc', '/usr/bin/grep'];
    expect(misses(callOf('grep x | wc', { resolvedPaths: paths }))).toEqual(['path_differs', 'path_differs']);
    expect(misses(callOf('wc x | grep y', { resolvedPaths: paths }))).toEqual([]);
  });

  test.each<[word: string, path: string, same: boolean]>([
    ['git', 'C:/Tools/GIT.exe', true],
    ['GIT.EXE', 'C:\\Tools\\git.exe', true],
    ['C:\\Tools\\git', 'c:/tools/git.exe', true],
    ['C:/Tools/git.exe', 'D:/Tools/git.exe', false],
    ['C:git.exe', 'C:/Tools/git.exe', false],
    ['\\Tools\\git', 'C:/Tools/git.exe', false],
    ['git', 'C:/Tools/git.cmd', false],
    ['git', 'C:/Tools/git.exe.', false],
  ])('of Windows go by its rules: %s, %s: %s', (word, path, same) => {
    expect(misses(callOf(word, { argv: [word], resolvedPaths: [path] }))).toEqual(
      same ? [] : ['path_differs'],
    );
  });

  test('never name a file that the words do not', () => {
    const name = fc.stringMatching(/^[a-z]{1,3}$/);
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), fc.array(name), (words, names) => {
        const resolvedPaths = names.map((one) => `/bin/${one}`);
        const isSame = words.length === names.length && words.every((word, index) => word === names[index]);
        const { matched } = judge(callOf(words.join(' | '), { resolvedPaths }), [
          '/bin/x*',
          '/bin/[a-z]',
          '/**',
        ]);
        return !matched || isSame;
      }),
    );
  });
});

test('judging takes time in proportion to the list', () => {
  const call = resolvedCallOf(Array.from({ length: 16 }, (_, index) => `tool${index} x`).join('; '));
  const measure = (length: number) => {
    const patterns = Array.from({ length }, (_, index) => `/opt/${index % 2 === 0 ? '*' : index}/bin/tool`);
    return cpuMs(() => expect(judge(call, patterns).matched).toBe(false));
  };
  measure(1000);
  // Eight times the list: far less than the sixty-four times of quadratic work.
  expect(measure(8000)).toBeLessThan(32 * measure(1000) + 5);
});

describe('another file than the one stated would run, and nothing is covered', () => {
  const stated = (argv: string[], resolvedPaths: string[], cwd: string | null = '/repo') =>
    misses(callOf('', { argv, resolvedPaths, cwd }));

  test.each<[argv: string[], paths: string[]]>([
    [['./ls'], ['/usr/bin/ls']],
    [['bin/ls'], ['/usr/bin/ls']],
    [['bin/./ls'], ['/repo/ls']],
    [['../ls'], ['/ls']],
  ])('where a relative word is no such file of the working directory: %s', (argv, paths) => {
    expect(stated(argv, paths)).toContain('path_differs');
  });

  test('while the file below the working directory is covered', () => {
    expect(stated(['./ls'], ['/repo/ls'])).toEqual([]);
    expect(stated(['bin//ls'], ['/repo/bin/ls'], '/repo/')).toEqual([]);
    expect(stated(['bin\\ls'], ['C:/repo/bin/ls.exe'], 'C:\\repo')).toEqual([]);
    expect(stated(['ls'], ['/usr/bin/ls'])).toEqual([]);
  });

  test.each([
    'chroot /mnt ls',
    'unshare --root=/mnt ls',
    'nsenter -t 1 -m ls',
    'env -C /mnt ls',
    'env -i ls',
    'sudo -D /mnt ls',
    'sudo -R /mnt ls',
    'doas -C x ls',
    'find . -execdir ls {} \\;',
  ])('where a wrapper looks for it elsewhere: %s', (command) => {
    expect(misses(resolvedCallOf(command))).toContain('blocked_construct');
  });
});
