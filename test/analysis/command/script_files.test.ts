import { describe, expect, it } from 'vitest';
import {
  isInterpreter,
  isMultiplexer,
  isShell,
  isWrapper,
} from '../../../src/analysis/command/command_kinds.ts';
import { guessPlatform } from '../../../src/analysis/command/guess_platform.ts';
import { listScriptFiles } from '../../../src/analysis/command/script_files.ts';
import { analyse, callOf } from './analysis_tools.ts';

describe('the script files', () => {
  it.each([
    ['bash deploy.sh a', ['deploy.sh']],
    ['bash -x -- deploy.sh', ['deploy.sh']],
    ['bash --rcfile rc -i s.sh', ['rc', 's.sh']],
    ['sudo sh deploy.sh | python3 -u x.py', ['deploy.sh', 'x.py']],
    ["sh -c 'python x.py; . ./env'", ['x.py', './env']],
    ['source f', ['f']],
    ['. f a', ['f']],
    ['sh < f', ['f']],
    ['python3.12 -W ignore x.py y', ['x.py']],
    ['python < f', ['f']],
    ['node -r ./a.js --inspect b.js', ['./a.js', 'b.js']],
    ['perl -w -Ilib x.pl', ['x.pl']],
    ['ruby x.rb', ['x.rb']],
    ['deno run --allow-net a.ts', ['a.ts']],
    ['make -f F all', ['F']],
    ['make all --file=F', ['F']],
    ['awk -f p.awk x', ['p.awk']],
    ['sed -n -f s.sed x', ['s.sed']],
    ['pwsh -File x.ps1', ['x.ps1']],
    ['./run.sh', []],
    ['ls f', []],
    ["bash -c 'ls f'", []],
    ['python3 -m http.server', []],
    ['bash "$f"', ['"$f"']],
  ])('of %s', (command, files) => {
    expect(listScriptFiles(analyse(command)).map(({ text }) => text)).toStrictEqual(files);
  });
});

describe('the kind of a command', () => {
  it.each([
    '/bin/sh',
    'BASH',
    'bash-5.2',
    'C:\\Windows\\System32\\cmd.exe',
    'pwsh',
    'PowerShell.EXE',
    'zsh',
    'fish',
  ])('%s is a shell', (path) => expect(isShell(path)).toBe(true));
  it.each(['/usr/bin/python3.12', 'node', 'perl5.36', 'gawk', 'make', 'vim', 'ruby3.2', 'wscript.exe'])(
    '%s is an interpreter',
    (path) => expect(isInterpreter(path)).toBe(true),
  );
  it.each(['/usr/bin/sudo', 'env', 'xargs', 'find', 'ssh', 'gtimeout', 'nice', 'flock', 'wsl.exe'])(
    '%s is a wrapper',
    (path) => expect(isWrapper(path)).toBe(true),
  );
  it.each(['busybox', '/bin/busybox-static', 'toybox'])('%s is a multiplexer', (path) =>
    expect(isMultiplexer(path)).toBe(true),
  );
  it.each(['/bin/ls', 'git', 'sed', 'grep', 'tar', 'shasum', 'pythonista', 'findmnt'])(
    '%s is none of these',
    (path) => {
      expect([isShell, isInterpreter, isWrapper, isMultiplexer].map((is) => is(path))).toStrictEqual([
        false,
        false,
        false,
        false,
      ]);
    },
  );
});

describe('the platform', () => {
  it.each([
    [{ cwd: 'C:\\work' }, 'windows'],
    [{ cwd: 'c:/work' }, 'windows'],
    [{ cwd: '\\\\host\\share' }, 'windows'],
    [{ resolvedPaths: ['C:\\Windows\\System32\\ping.exe'] }, 'windows'],
    [{ cwd: '/c/work' }, 'posix'],
    [{ cwd: '/', resolvedPaths: ['/bin/ls'] }, 'posix'],
    [{}, 'posix'],
  ])('of %j is %s', (more, platform) => {
    expect(guessPlatform(callOf('ls', more))).toBe(platform);
  });

  it('decides which shell reads the text', () => {
    expect(analyse('dir & del x', { cwd: 'C:\\work' })).toMatchObject({ language: 'cmd' });
    expect(analyse('ls & rm x')).toMatchObject({ language: 'posix' });
  });
});
