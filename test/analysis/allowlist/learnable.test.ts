import { describe, expect, test } from 'vitest';
import { learnEntries } from '../../../src/analysis/allowlist/learnable.ts';
import { analyseCommand } from '../../../src/analysis/command/analyse_command.ts';
import type { CommandCall } from '../../../src/core/command_call.ts';
import { callOf, judge, resolvedCallOf } from './support.ts';

const learn = (call: CommandCall) => learnEntries(call, analyseCommand(call));

describe('from a command', () => {
  test.each([
    ['jq .', ['/usr/bin/jq']],
    ['grep x | wc | grep y', ['/usr/bin/grep', '/usr/bin/wc']],
    ['/opt/x/tool a', ['/opt/x/tool']],
    ['git status', ['/usr/bin/git']],
  ])('its paths are learned, each once, and cover it: %s', (command, patterns) => {
    const call = resolvedCallOf(command);
    expect(learn(call)).toEqual({ kind: 'entries', patterns });
    expect(judge(call, patterns).matched).toBe(true);
  });

  test.each([
    ['a shell', "sh -c 'jq .'", /`sh` is a shell/],
    ['a shell by its path', '/bin/bash deploy.sh', /`bash` is a shell/],
    ['a shell of a version', 'zsh-5.9 x', /is a shell/],
    ['an interpreter', 'python3 -V', /`python3` is an interpreter/],
    ['an interpreter of a version', 'python3.12 -V', /is an interpreter/],
    ['awk', 'awk 1 a', /is an interpreter/],
    ['make', 'make x', /takes commands of others/],
    ['a wrapper', 'nice jq .', /`nice` is a wrapper/],
    ['find', 'find . -name a', /`find` is a wrapper/],
    ['xargs', 'jq . | xargs wc', /`xargs` is a wrapper/],
    ['a multiplexer', 'busybox wc', /`busybox` is a program of many commands/],
    ['scripts of packages', 'npm test', /`npm` is a program that runs what/],
    ['what a project says', 'cargo build', /`cargo` is a program that runs what/],
    ['code in its arguments', 'octave x.m', /`octave` is a program that runs what/],
    ['a version of such', 'pip3.12 list', /`pip3.12` is a program that runs what/],
    ['commands elsewhere', 'kubectl get pods', /`kubectl` is a program that runs what/],
  ])('that runs %s nothing is learned', (_, command, reason) => {
    expect(learn(resolvedCallOf(command))).toEqual({
      kind: 'refused',
      reason: expect.stringMatching(reason),
    });
  });

  test.each<[what: string, call: CommandCall, reason: RegExp]>([
    ['is not understood', callOf('$X', { resolvedPaths: ['/usr/bin/jq'] }), /not known what/],
    ['states no paths', callOf('jq .'), /states 0 resolved paths/],
    ['states a relative path', callOf('jq .', { resolvedPaths: ['jq'] }), /is no absolute path/],
    ['states the path of a shell', callOf('jq .', { resolvedPaths: ['/bin/sh'] }), /is a shell/],
    ['sets a variable', { ...resolvedCallOf('jq .'), env: { A: 'b' } }, /sets variables/],
    ['redirects', resolvedCallOf('jq . > a'), /a redirection/],
    ['runs nothing', callOf('A=b', { resolvedPaths: [] }), /runs no executable/],
    ['has a path with wildcards', callOf("'/opt/a*b'", { resolvedPaths: ['/opt/a*b'] }), /as wildcards/],
    ['has a path with `**`', callOf("'/opt/**'", { resolvedPaths: ['/opt/**'] }), /as wildcards/],
  ])('that %s nothing is learned', (_, call, reason) => {
    expect(learn(call)).toEqual({ kind: 'refused', reason: expect.stringMatching(reason) });
  });
});
