import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { protectCommand } from '../src/command/index.ts';
import { allowed, type Bench, openBench } from './command_bench.ts';
import { clientOf } from './peer.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench(allowed);
});
afterEach(() => bench.close());

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('what is asked for', () => {
  test('is the argument vector, its quoted form, the folder and where the executable is', async () => {
    const tool = bench.write('second/tool', '#!/bin/sh\n', 0o755);
    await bench.run({ argv: ['tool', 'a b', "it's", ''] });
    expect(bench.peer.asked).toEqual({
      tool: 'shell',
      action: 'exec',
      resource: null,
      mutates_state: true,
      parameters: {
        command: "tool 'a b' 'it'\\''s' ''",
        argv: ['tool', 'a b', "it's", ''],
        cwd: bench.folder,
        resolved_paths: [tool],
      },
    });
  });

  test('of a shell text is the text alone, with one path for each executable in the order written', async () => {
    const one = bench.write('first/one', '#!/bin/sh\n', 0o755);
    const two = bench.write('second/two', '#!/bin/sh\n', 0o755);
    await bench.run({ command: 'one | two && one' });
    expect(bench.asked()).toEqual({
      command: 'one | two && one',
      cwd: bench.folder,
      resolved_paths: [one, two, one],
    });
  });

  test('of a wrapper has a path for what it runs too', async () => {
    const tool = bench.write('second/tool', '#!/bin/sh\n', 0o755);
    const nice = bench.write('first/nice', '#!/bin/sh\n', 0o755);
    await bench.run({ argv: ['nice', 'tool'] });
    expect(bench.asked().resolved_paths).toEqual([nice, tool]);
  });

  test('names the tool, action, resource and context of the spec', async () => {
    bench.write('first/tool', '#!/bin/sh\n', 0o755);
    await bench.run(
      { argv: ['tool'] },
      {
        tool: 'build',
        action: 'run',
        resource: ({ command }) => `runs ${command}`,
        context: { session_id: 's-1' },
      },
      { context: { run_id: 'r-1' } },
    );
    expect(bench.peer.asked).toMatchObject({ tool: 'build', action: 'run', resource: 'runs tool' });
    expect(bench.peer.to('/authorize')[0]?.body.context).toEqual({ session_id: 's-1', run_id: 'r-1' });
  });

  test('has the environment that is set, a call’s own over the spec’s', async () => {
    bench.write('first/tool', '#!/bin/sh\n', 0o755);
    await bench.run({ argv: ['tool'], env: { B: '3' } }, { env: { A: '1', B: '2' } });
    expect(bench.asked().env).toEqual({ A: '1', B: '3' });
  });

  test('is not what the caller changes meanwhile', async () => {
    bench.write('first/tool', '#!/bin/sh\n', 0o755);
    const input = { argv: ['tool', 'a'], env: { A: '1' } };
    const context = { session_id: 's-1' };
    const end = bench.run(input, {}, { context });
    input.argv[1] = 'b';
    input.env.A = '2';
    context.session_id = 's-2';
    await end;
    expect(bench.asked()).toMatchObject({ argv: ['tool', 'a'], env: { A: '1' } });
    expect(bench.peer.to('/authorize')[0]?.body.context).toEqual({ session_id: 's-1' });
  });
});

describe('the path of an executable', () => {
  test('is looked for in the `PATH` that is shown, and then not stated', async () => {
    bench.write('first/tool', '#!/bin/sh\necho first\n', 0o755);
    mkdirSync(bench.path('own'));
    bench.write('own/tool', '#!/bin/sh\necho own\n', 0o755);
    const { stdout } = await bench.run({ argv: ['tool'], env: { PATH: bench.path('own') } });
    expect(stdout.text).toBe('own\n');
    expect(bench.asked()).not.toHaveProperty('resolved_paths');
  });

  test('is of the first file that may be executed', async () => {
    bench.write('first/tool', '#!/bin/sh\n', 0o644);
    const tool = bench.write('second/tool', '#!/bin/sh\n', 0o755);
    await bench.run({ argv: ['tool'] });
    expect(bench.asked().resolved_paths).toEqual([tool]);
  });

  test('names a symbolic link by its own name', async () => {
    symlinkSync(bench.write('real', '#!/bin/sh\n', 0o755), join(bench.first, 'tool'));
    await bench.run({ argv: ['tool'] });
    expect(bench.asked().resolved_paths).toEqual([join(bench.first, 'tool')]);
  });

  test('follows a link before a `..`, as the system does', async () => {
    mkdirSync(bench.path('far/away'), { recursive: true });
    symlinkSync(bench.path('far/away'), bench.path('link'));
    const tool = bench.write('far/tool', '#!/bin/sh\necho far\n', 0o755);
    bench.write('tool', '#!/bin/sh\necho near\n', 0o755);
    const { stdout } = await bench.run({ argv: ['link/../tool'] });
    expect(bench.asked().resolved_paths).toEqual([tool]);
    expect(stdout.text).toBe('far\n');
  });

  test.each([
    ['a builtin of the shell', 'tool && true-is-no-file'],
    ['a change of folder', 'cd / && tool'],
    ['a `PATH` of its own', 'PATH=/elsewhere tool'],
    ['an exported `PATH`', 'export PATH=/elsewhere; tool'],
    ['an alias', 'alias tool=other; tool'],
    ['a function', 'tool() { other; }; tool'],
    ['a wrapper that sets variables', 'env PATH=/elsewhere tool'],
    ['a wrapper that changes the folder', 'env -C / tool'],
    ['an executable that a variable names', '$X tool'],
    ['a name that is not closed', "tool 'a"],
    ['a quote that shells end at two places', "tool $'a\\'; tool #'"],
    ['such a quote in a text within it', `sh -c "tool \\$""'a\\\\'; tool #'"`],
    ['a word of bash that another shell takes for a command', 'tool && [[ a || tool ]]'],
  ])('is not stated for a command with %s', async (_, command) => {
    bench.write('first/tool', '#!/bin/sh\n', 0o755);
    await bench.run({ command });
    expect(bench.asked()).toEqual({ command, cwd: bench.folder });
  });
});

describe('the digest of a script file', () => {
  test('is stated under the name that the command writes', async () => {
    bench.write('build.sh', 'echo built\n');
    const { stdout } = await bench.run({ argv: ['sh', 'build.sh'] });
    expect(bench.asked().file_digests).toEqual({ 'build.sh': sha256('echo built\n') });
    expect(stdout.text).toBe('built\n');
  });

  test('is stated for an executable that is named by its path too', async () => {
    const path = bench.write('deploy', '#!/bin/sh\necho deployed\n', 0o755);
    await bench.run({ argv: ['./deploy'] });
    expect(bench.asked()).toMatchObject({
      resolved_paths: [path],
      file_digests: { './deploy': sha256('#!/bin/sh\necho deployed\n') },
    });
  });

  test('is not stated where there is none, nor where another folder may be meant', async () => {
    bench.write('build.sh', 'echo built\n');
    await bench.run({ argv: ['sh', 'missing.sh'] });
    expect(bench.asked()).not.toHaveProperty('file_digests');
    await bench.run({ command: 'cd / && sh build.sh' });
    expect(bench.asked()).not.toHaveProperty('file_digests');
  });
});

describe('nothing is asked for', () => {
  test.each([
    ['neither words nor a text', {}],
    ['both', { argv: ['true'], command: 'true' }],
    ['no words', { argv: [] }],
    ['a word that is no text', { argv: ['true', 1] }],
    ['a nul character', { argv: ['true', 'a\0b'] }],
    ['an empty text', { command: ' ' }],
    ['a lone surrogate', { argv: ['true', '\ud800'] }],
    ['a variable that is none', { argv: ['true'], env: { 'A=B': '1' } }],
    ['a value with a nul character', { argv: ['true'], env: { A: '1\0' } }],
    ['a value that is no text', { argv: ['true'], env: { A: 1 } }],
    ['a folder that is no text', { argv: ['true'], cwd: 1 }],
  ])('for %s, which is misuse', async (_, input) => {
    await expect(bench.run(input as never)).rejects.toBeInstanceOf(TypeError);
    expect(bench.peer.received).toEqual([]);
  });

  test.each([
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'DYLD_INSERT_LIBRARIES',
    'BASH_ENV',
    'ENV',
    'BASH_FUNC_ls%%',
    'NODE_OPTIONS',
    'PYTHONSTARTUP',
    'PYTHONPATH',
    'PERL5OPT',
    'RUBYOPT',
    'GIT_SSH_COMMAND',
    'GIT_CONFIG_COUNT',
    'IFS',
  ])('where `%s` is set', async (name) => {
    await expect(bench.run({ argv: ['true'], env: { [name]: 'x' } })).rejects.toThrow(
      `\`${name}\` makes other code`,
    );
    expect(() => bench.guard({ inherit: [name] })).toThrow(TypeError);
    expect(bench.peer.received).toEqual([]);
  });

  test.each([
    [
      'an executable that is not there',
      { argv: ['no-such-tool'] },
      '`no-such-tool` is no executable of this host',
    ],
    ['a file that may not be executed', { argv: ['./notes'] }, '`./notes` is no executable of this host'],
    ['a folder in place of a file', { argv: ['./first'] }, '`./first` is no executable of this host'],
    ['an empty name', { argv: [''] }, '`` is no executable of this host'],
    [
      'a folder that is not there',
      { argv: ['true'], cwd: '/no/such' },
      '`/no/such` is no folder of this host',
    ],
  ])('for %s', async (_, input, reason) => {
    bench.write('notes', 'text', 0o644);
    await expect(bench.run(input)).rejects.toMatchObject({ code: 'invalid_request', reason });
    expect(bench.peer.received).toEqual([]);
  });

  test('on Windows', () => {
    const platform = vi.spyOn(process, 'platform', 'get').mockReturnValue('win32');
    expect(() => protectCommand(clientOf(bench.peer))).toThrow('commands are not guarded on windows');
    platform.mockRestore();
  });

  test('with a spec that bounds nothing', () => {
    expect(() => bench.guard({ outputBytesMax: 2 ** 21 })).toThrow('`outputBytesMax`');
    expect(() => bench.guard({ killGraceMs: Number.NaN })).toThrow('`killGraceMs`');
  });
});
