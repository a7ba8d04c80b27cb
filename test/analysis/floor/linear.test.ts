import { describe, expect, test } from 'vitest';
import { analyseCommand } from '../../../src/analysis/command/analyse_command.ts';
import { findFloor } from '../../../src/analysis/floor/find_floor.ts';
import { growth } from './least_time.ts';
import { callOf } from './windows_cases.ts';

const SMALL = 8192;
const LARGE = 131_072;

/** Judging a command, taken apart beforehand. */
function judging(command: string): () => unknown {
  const call = callOf(command, { cwd: '/home/a/b' });
  const analysis = analyseCommand(call);
  return () => findFloor(call, analysis);
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
  'filters and shells': (length) => fill(length, '|rev|sh', `echo ${fill(length / 2, 'a')}`),
  'parameters in each other': (length) => `rm -rf ${'${X:-'.repeat(length / 7)}a${'}'.repeat(length / 7)}`,
  'here-documents in a row': (length) => `${fill(length, 'cat <<E\nrm\nE\n')}'`,
  'cmd of Windows in itself': (length) => fill(length, 'cmd /c '),
  'deletions of Windows in a row': (length) => fill(length, 'del /s C:\\x & '),
  'variables of PowerShell in a row': (length) => fill(length, '$x = "C:"; ri $x\\* -r; '),
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

describe('the time of all rules', () => {
  test.each(Object.keys(SHAPES))('grows with the length and not with its square: %s', (name) => {
    const shape = SHAPES[name];
    if (shape === undefined) throw new Error(`no shape ${name}`);
    // Sixteen times the length; a square would be 256 times the time.
    expect(growth(judging(shape(SMALL)), judging(shape(LARGE)), 80)).toBeLessThan(80);
  });
});
