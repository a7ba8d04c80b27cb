import { expect, test } from 'vitest';
import { examineCommand } from '../../src/analysis/examine_command.ts';

const NAMES = { parameter: 'command', argvParameter: 'argv' };

test('a command is examined once, whoever reads it anew', () => {
  const call = { command: 'rm -rf ./build && make', cwd: '/srv/app' };
  const examined = examineCommand(call, NAMES);
  expect(examineCommand(call, NAMES)).toBe(examined);
  expect(examineCommand(structuredClone(call), NAMES)).toBe(examined);
});

test.each([
  ['in another folder', { command: 'rm -rf ./*', cwd: '/' }],
  ['in another environment', { command: 'rm -rf ./*', cwd: '/srv', env: { T: '/' } }],
  ['as an argument vector', { command: 'rm -rf ./*', argv: ['rm', '-rf', './*'], cwd: '/srv' }],
  ['with other executables', { command: 'rm -rf ./*', cwd: '/srv', resolved_paths: ['/bin/rm'] }],
  ['with a script that is bound', { command: 'rm -rf ./*', cwd: '/srv', file_digests: { a: '0' } }],
])('the same text %s is another command', (_, other) => {
  const first = examineCommand({ command: 'rm -rf ./*', cwd: '/srv' }, NAMES);
  expect(first.floor).toStrictEqual([]);
  const examined = examineCommand(other, NAMES);
  expect(examined).not.toBe(first);
  expect(examined.call).toMatchObject(
    'argv' in other ? { argv: other.argv } : { command: other.command, cwd: other.cwd },
  );
  expect(examined.floor.length > 0).toBe(other.cwd === '/');
});

test('what was examined long before, or is very long, is examined as it was', () => {
  const long = { command: `echo ${'a'.repeat(20_000)}`, cwd: '/srv' };
  expect(examineCommand(structuredClone(long), NAMES)).toStrictEqual(examineCommand(long, NAMES));
  const call = { command: 'ls', cwd: '/srv' };
  const first = examineCommand(call, NAMES);
  for (let n = 0; n < 40; n += 1) examineCommand({ command: `echo ${n}` }, NAMES);
  const again = examineCommand(structuredClone(call), NAMES);
  expect(again).not.toBe(first);
  expect(again).toStrictEqual(first);
});
