import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { analyseCommand } from '../../../src/analysis/command/analyse_command.ts';
import { findWindowsFloor } from '../../../src/analysis/floor/windows_floor.ts';
import { callOf, floorCases, safeCases } from './windows_cases.ts';

interface Vector {
  command: string;
  verdict: string;
  platform?: string;
}

function vectorsOf(file: string): Vector[] {
  const url = new URL(`../../vectors/shell/${file}`, import.meta.url);
  return (JSON.parse(readFileSync(url, 'utf8')) as { cases: Vector[] }).cases;
}

function rulesOf(command: string, surroundings: Parameters<typeof callOf>[1] = {}): string[] {
  const call = callOf(command, surroundings);
  return [...new Set(findWindowsFloor(call, analyseCommand(call)).map(({ rule }) => rule))];
}

/** Read by a POSIX shell where nothing tells the platform, by `cmd` in a folder of Windows. */
const SURROUNDINGS = [{}, { cwd: 'C:\\work' }];

describe('the floor of Windows', () => {
  it.each(floorCases)('holds $rule: $command', ({ rule, command }) => {
    for (const surroundings of SURROUNDINGS) {
      expect(rulesOf(command, surroundings)).toContain(rule);
    }
  });

  it.each(safeCases)('lets pass: %s', (command) => {
    for (const surroundings of [...SURROUNDINGS, { cwd: '/home/u' }]) {
      expect(rulesOf(command, surroundings)).toStrictEqual([]);
    }
  });

  it.each<[string, string, Parameters<typeof callOf>[1]]>([
    ['the working directory', 'del /s /q *', { cwd: 'C:\\' }],
    ['the working directory under another name', 'rd /s /q .', { cwd: 'c:/' }],
    ['the parent of the working directory', 'rd /s /q ..', { cwd: 'D:\\x' }],
    ['a folder below the working directory', 'rmdir /s /q Windows', { cwd: 'C:\\' }],
    ['a folder that is changed to', 'cd .. & del /s /q *.*', { cwd: 'C:\\x' }],
    ['the environment', 'rd /s /q %T%', { env: { T: 'C:\\' } }],
    ['the environment whatever its case', 'Remove-Item $env:t -Recurse', { env: { T: 'C:\\Windows' } }],
    ['the home that the call states', 'rd /s /q D:\\me', { env: { USERPROFILE: 'd:\\Me' } }],
    ['an argument vector', '', { argv: ['cmd', '/c', 'rd', '/s', '/q', 'C:\\'] }],
    ['a vector for PowerShell', '', { argv: ['powershell', '-c', 'Remove-Item -Recurse C:\\'] }],
  ])('judges by %s', (_, command, surroundings) => {
    expect(rulesOf(command, surroundings)).toHaveLength(1);
  });

  it.each<[string, string, Parameters<typeof callOf>[1]]>([
    ['another working directory', 'del /s /q *', { cwd: 'C:\\work' }],
    ['a folder that is not known', 'del /s /q *', {}],
    ['another value', 'rd /s /q %T%', { env: { T: 'C:\\x' } }],
    ['a home elsewhere', 'rd /s /q D:\\you', { env: { USERPROFILE: 'D:\\me' } }],
  ])('is not reached with %s', (_, command, surroundings) => {
    expect(rulesOf(command, surroundings)).toStrictEqual([]);
  });

  it('names the segment that breaks the rule', () => {
    const call = callOf('echo a & rd /s /q C:\\ & echo b', { cwd: 'C:\\work' });
    expect(findWindowsFloor(call, analyseCommand(call))).toStrictEqual([
      { rule: 'recursive-delete-of-root', text: 'rd /s /q C:\\' },
    ]);
  });
});

describe('text that another shell would run', () => {
  it.each([
    "git commit -m 'x & format C:'",
    'rm -r \\\n build',
    "rm x; git commit -m 'a\nrm -r ~\nrd /s /q C:\\\n'",
    "rm -r build && cat > notes.md <<'EOF'\nrm -r ~\nformat C:\nEOF\n",
    'find . -name CVS -exec rm -r {} \\;',
    'for d in a b; do rm -r "$d/"; done',
    'ls / && rm -r "$X"',
    'ls | grep "del /s /q C:\\\\"',
  ])('is not judged where a POSIX shell has it as text: %j', (command) => {
    expect(rulesOf(command)).toStrictEqual([]);
  });
});

describe('commands from the tests of others', () => {
  const windows = vectorsOf('destructive-commands.json').filter(({ platform }) => platform === 'win32');
  const posix = vectorsOf('destructive-commands.json').filter(({ platform }) => platform === 'posix');

  it('are all there', () => {
    expect(windows).toHaveLength(25);
    expect(posix.length).toBeGreaterThan(300);
  });

  // Deleting what is named, opening a URL: `dangerous_windows` is for a person to judge, what destroys is not.
  it.each(windows)('are the floor only when they destroy: $command', ({ command, verdict }) => {
    for (const surroundings of SURROUNDINGS) {
      expect(rulesOf(command, surroundings).length > 0).toBe(verdict === 'destructive');
    }
  });

  const harmless = posix.filter(({ verdict }) =>
    /^(?:not_(?!allowed)|safe|known_safe|should_be_allowed|below_|medium)/.test(verdict),
  );
  it.each(harmless)('raise no alarm: $command', ({ command }) => {
    for (const surroundings of [{}, { cwd: '/home/u' }]) {
      expect(rulesOf(command, surroundings)).toStrictEqual([]);
    }
  });

  it.each(vectorsOf('powershell-encoded.json'))(
    'are seen through their encoding: $command',
    ({ command, verdict }) => {
      for (const surroundings of SURROUNDINGS) {
        expect(rulesOf(command, surroundings).length > 0).toBe(verdict.startsWith('hardline'));
      }
    },
  );

  it('raise no alarm among two thousand lines of everyday shell', () => {
    const lines = ['nl2bash-plain.json', 'nl2bash-constructs.json'].flatMap((file) => vectorsOf(file));
    expect(lines.length).toBeGreaterThan(2000);
    expect(lines.filter(({ command }) => rulesOf(command).length > 0)).toStrictEqual([]);
  });
});
