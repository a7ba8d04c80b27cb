import { describe, expect, test } from 'vitest';
import { analyseCommand } from '../../../src/analysis/command/analyse_command.ts';
import { findPosixFloor } from '../../../src/analysis/floor/posix_floor.ts';
import type { CommandCall } from '../../../src/core/command_call.ts';

const SMALL = 16_384;
const LARGE = 262_144;

/** Processor time of the rules of POSIX alone in milliseconds, the best of three: what else the machine does is left out. */
function measure(command: string): number {
  const call: CommandCall = {
    command,
    argv: null,
    cwd: '/home/a/b',
    env: {},
    resolvedPaths: null,
    fileDigests: {},
  };
  const analysis = analyseCommand(call);
  const times = [1, 2, 3].map(() => {
    const start = process.cpuUsage();
    findPosixFloor(call, analysis);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

/** Text of this length that starts so and goes on with the same. */
function fill(length: number, part: string, start = ''): string {
  return start + part.repeat(Math.ceil((length - start.length) / part.length));
}

const SHAPES: Readonly<Record<string, (length: number) => string>> = {
  'commands in a row': (length) => fill(length, 'rm -rf x;'),
  'words in a row': (length) => fill(length, 'a ', 'rm -rf '),
  'braces that never close': (length) => fill(length, '{a,', 'rm -rf '),
  'substitutions that never close': (length) => fill(length, '"$('),
  'backticks in a row': (length) => fill(length, '`', 'echo '),
  'parameters that never close': (length) => fill(length, '${X:-', 'rm -rf '),
  'values that double': (length) => fill(length, 'A=$A$A;', 'A=aaaaaaaa;'),
  'folders in a row': (length) => fill(length, 'cd ..;cd a && '),
  'one name of globs': (length) => fill(length, '*?', 'rm -rf /'),
  'groups of find': (length) => fill(length, '\\( -print -o ', 'find / '),
  'loops of one variable': (length) => fill(length, 'for x in a;do rm $x;done;'),
  'uses of a long loop': (length) => fill(length, 'rm $x;', `for x in ${fill(length / 2, 'a ')};do `),
  'functions in functions': (length) => fill(length, 'f(){ '),
  'filters in a row': (length) => fill(length, '|rev', `echo ${fill(length / 2, 'a')}`),
  'shells in a row': (length) => fill(length, '|sh', 'echo x'),
  'evals in a row': (length) => fill(length, 'eval '),
  'strings of a program': (length) => `python -c '${fill(length, 'run("a","b",')}'`,
  'placeholders of xargs': (length) => fill(length, '{} ', `echo ${fill(length / 2, 'a ')}| xargs -I{} rm `),
};

describe('the time of the rules of POSIX', () => {
  test.each(Object.keys(SHAPES))(
    'grows with the length and not with its square: %s',
    (name) => {
      const shape = SHAPES[name];
      if (shape === undefined) throw new Error(`no shape ${name}`);
      measure(shape(2048));
      const small = measure(shape(SMALL));
      const large = measure(shape(LARGE));
      // Sixteen times the length; a square would be 256 times the time. Very short times say little.
      expect(large / Math.max(small, 20)).toBeLessThan(80);
    },
    120_000,
  );
});
