import { describe, expect, test } from 'vitest';
import { analyseCommand } from '../../../src/analysis/command/analyse_command.ts';
import { findFloor } from '../../../src/analysis/floor/find_floor.ts';
import { breaksFloor, hitsOf } from './breaks_floor.ts';
import { DELETIONS, OTHERS, SAFE } from './commands.ts';

function rulesOf(command: string): string[] {
  return hitsOf({ command }).map(({ rule }) => rule);
}

describe('the floor', () => {
  test.each(DELETIONS)('refuses the deletion $command in $cwd with $env', (one) => {
    const rules = hitsOf(one).map(({ rule }) => rule);
    expect(rules.some((rule) => rule.startsWith('recursive-delete'))).toBe(true);
  });

  test.each(OTHERS)('refuses $command', (one) => {
    expect(breaksFloor(one)).toBe(true);
  });

  test.each(SAFE)('leaves $command in $cwd with $env to policy', (one) => {
    expect(hitsOf(one)).toEqual([]);
  });

  test.each([
    [':(){ :|:& };:', 'fork-bomb'],
    ['rm -rf /', 'recursive-delete-of-root'],
    ['rm -rf /etc', 'recursive-delete-of-root'],
    ['rm -rf ~', 'recursive-delete-of-home'],
    ['dd if=x of=/dev/sda', 'raw-device-write'],
    ['mkfs.ext4 /dev/sda1', 'format-filesystem'],
    ['reboot', 'shutdown'],
    ['kill -9 -1', 'kill-everything'],
    ['chmod -R 000 /', 'recursive-permission-change'],
  ])('names the rule that %s breaks: %s', (command, rule) => {
    expect(rulesOf(command)).toEqual([rule]);
  });

  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'a name that objects have of themselves is one like any other: %s',
    (name) => {
      expect(hitsOf({ command: `${name} x "$${name}"; rm -rf "$${name}"/*` })).toHaveLength(1);
      expect(hitsOf({ command: `${name} -c 'rm -rf /'`, env: { [name]: 'x' } })).toEqual([]);
    },
  );

  test('a rule that both halves find in the same words is named once', () => {
    const hits = hitsOf({ command: 'rm -rf C:/; shutdown -r now; dd if=x of=\\\\\\\\.\\\\PhysicalDrive0' });
    expect(hits.map(({ rule }) => rule)).toEqual([...new Set(hits.map(({ rule }) => rule))]);
    expect(hits).toHaveLength(3);
  });

  test('what a removal in a POSIX shell deletes is judged as that shell has it', () => {
    expect(hitsOf({ command: 'rm -rf ~/*.bak' })).toEqual([]);
    expect(hitsOf({ command: 'for d in a b; do rm -r "$d"/*; done' })).toEqual([]);
    expect(hitsOf({ command: 'rm -r C:\\\\Windows' })).toHaveLength(1);
  });

  test('a hit holds the segment that breaks the rule, as it stands', () => {
    expect(hitsOf({ command: 'ls && rm  -rf "/" | cat' })).toEqual([
      { rule: 'recursive-delete-of-root', text: 'rm  -rf "/"' },
    ]);
  });

  test('each rule that is broken is named, once for each segment', () => {
    expect(rulesOf('reboot; rm -rf /; reboot')).toEqual(['shutdown', 'recursive-delete-of-root']);
  });

  test('an argument vector is judged as it stands: nothing in it is expanded or split', () => {
    const call = { command: '', cwd: null, env: {}, resolvedPaths: null, fileDigests: {} };
    const judge = (argv: string[]) => findFloor({ ...call, argv }, analyseCommand({ ...call, argv }));
    expect(judge(['rm', '-rf', '/'])).toHaveLength(1);
    expect(judge(['sudo', 'sh', '-c', 'rm -rf /'])).not.toEqual([]);
    expect(judge(['rm', '-rf', '/ x'])).toEqual([]);
    expect(judge(['rm', '-rf', '$HOME'])).toEqual([]);
    expect(judge(['rm', '-rf', '~'])).toEqual([]);
    expect(judge(['echo', 'x; rm -rf /'])).toEqual([]);
    expect(judge(['rm -rf /'])).toEqual([]);
  });
});
