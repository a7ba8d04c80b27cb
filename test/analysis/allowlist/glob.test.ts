import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createEntryFinder } from '../../../src/analysis/allowlist/glob.ts';
import { cpuMs } from './support.ts';

interface GlobCase {
  pattern: string;
  target: string;
  match: boolean;
  platform: string;
}

const VECTORS = new URL('../../vectors/shell/allowlist-matching.json', import.meta.url);
const DIFFERENCES = new URL('allowlist_differences.json', import.meta.url);
const { glob_cases: CASES } = JSON.parse(readFileSync(VECTORS, 'utf8')) as { glob_cases: GlobCase[] };
const { glob_cases: LISTED } = JSON.parse(readFileSync(DIFFERENCES, 'utf8')) as {
  glob_cases: { pattern: string; target: string; match: boolean; reason: string }[];
};

const find = (patterns: string[], path: string, left = 1_000_000) =>
  createEntryFinder(patterns.map((pattern, index) => ({ id: `${index}`, pattern })))(path, { left })?.id;
const matches = (pattern: string, path: string) => find([pattern], path) !== undefined;
const toPath = (target: string) => target.replace('<home>', '/home/someone');

function findListed({ pattern, target }: GlobCase) {
  return LISTED.find((listed) => listed.pattern === pattern && listed.target === target);
}

describe('the vectors', () => {
  test.each(CASES)('$pattern and $target', (one) => {
    expect(matches(one.pattern, toPath(one.target))).toBe(findListed(one)?.match ?? one.match);
  });

  test('differ where a difference is listed, with its reason', () => {
    for (const listed of LISTED) {
      const one = CASES.find(({ pattern, target }) => pattern === listed.pattern && target === listed.target);
      expect(one?.match).toBe(!listed.match);
      expect(listed.reason).toMatch(/\w{3}/);
    }
  });
});

describe('a pattern', () => {
  test.each<[pattern: string, path: string, matches: boolean]>([
    ['/usr/bin/git', '/usr/bin/git', true],
    ['/usr/bin/git', '/usr/bin/git2', false],
    ['/usr/bin/git', '/opt/usr/bin/git', false],
    ['/usr/bin/g*', '/usr/bin/git', true],
    ['/usr/bin/*', '/usr/bin/a/b', false],
    ['/usr/bin/*t', '/usr/bin/git', true],
    ['/usr/bin/*a*b*', '/usr/bin/xaxbx', true],
    ['/usr/bin/*a*b*', '/usr/bin/xbxax', false],
    ['/usr/bin/g?t', '/usr/bin/gt', false],
    ['/usr/bin/?', '/usr/bin/😀', true],
    ['/usr/bin/g[i]t', '/usr/bin/git', false],
    ['/usr/bin/{git,cat}', '/usr/bin/git', false],
    ['/usr/bin/.*', '/usr/bin/git', false],
    ['/usr/bin/g\\*', '/usr/bin/g*', false],
    ['/usr/**/python3', '/usr/python3', true],
    ['/usr/**/python3', '/usr/a/b/c/python3', true],
    ['/usr/**/python3', '/usr/a/python3.9', false],
    ['/usr/**/bin/**/x', '/usr/a/bin/b/bin/x', true],
    ['/usr/**/bin/**/x', '/usr/a/b/x', false],
    ['/usr/**', '/usr/bin/git', true],
    ['/usr/**', '/usr', false],
    ['/usr/b**', '/usr/bin/git', false],
    ['/usr/b**', '/usr/bin', false],
    ['git', '/usr/bin/git', false],
    ['*', '/usr/bin/git', false],
    ['**', '/usr/bin/git', false],
    ['bin/git', '/usr/bin/git', false],
    ['./git', '/usr/bin/git', false],
  ])('%s, %s: %s', (pattern, path, matched) => {
    expect(matches(pattern, path)).toBe(matched);
  });

  test.each<[path: string, matches: boolean]>([
    ['/home/someone/bin/tool', true],
    ['/root/bin/tool', true],
    ['/Users/someone/bin/tool', true],
    ['C:/Users/someone/bin/tool', true],
    ['c:\\Users\\someone\\bin\\TOOL', true],
    ['/home/bin/tool', false],
    ['/home/a/b/bin/tool', false],
    ['/root/someone/bin/tool', false],
    ['/var/someone/bin/tool', false],
    ['/users/someone/bin/tool', false],
    ['C:/home/someone/bin/tool', false],
    ['/home/someone/bin/Tool', false],
  ])('of a home matches in any usual home: %s, %s', (path, matched) => {
    expect(matches('~/bin/tool', path)).toBe(matched);
  });

  test.each<[pattern: string, path: string, matches: boolean]>([
    ['C:/Tools/git.exe', 'c:\\tools\\GIT.EXE', true],
    ['C:\\Tools\\*.exe', 'C:/Tools/git.exe', true],
    ['C:/Tools/git.exe', 'D:/Tools/git.exe', false],
    ['C:/Tools/git.exe', 'C:/Tools/git.exe.', false],
    ['C:/Tools/*', 'C:/Tools/git.exe ', false],
    ['C:/Tools/*', 'C:/Tools/git.exe:stream', false],
    ['C:/Tools/k', 'C:/Tools/\u212a', false],
    ['~\\bin\\tool', 'C:/Users/someone/bin/tool', false],
    ['~/bin\\tool', 'C:/Users/someone/bin/tool', true],
    ['/Tools/git.exe', 'C:/Tools/git.exe', false],
    ['/**', 'C:/Tools/git.exe', false],
    ['C:tool', 'C:tool', false],
    ['\\\\host\\share\\tool', '\\\\host\\share\\tool', false],
  ])('of Windows is compared without case, and `\\` as `/`: %s, %s, %s', (pattern, path, matched) => {
    expect(matches(pattern, path)).toBe(matched);
  });
});

describe('a path that is not plain', () => {
  const PATHS = [
    '',
    '/',
    'git',
    'usr/bin/git',
    '~/bin/git',
    '/usr/bin/../../tmp/git',
    '/usr/./bin/git',
    '/usr//bin/git',
    '//usr/bin/git',
    '/usr/bin/git/',
    '/usr/bin/git\n',
    '/usr/bin/\u0000git',
    '/usr/bin/\u202egit',
    '/usr/bin/g\u200bit',
    '/usr/bin/\ud800',
    `/${'a'.repeat(4096)}`,
    'C:/Tools/../git.exe',
    'C:\\Tools\\..\\git.exe',
  ];

  test.each(PATHS)('matches nothing, itself included: %j', (path) => {
    for (const pattern of [path, '/**', '/*', '~/**', 'C:/**']) expect(matches(pattern, path)).toBe(false);
  });
});

test('of several entries the first that matches is found, plain or not', () => {
  expect(find(['/a/x', '/a/*', '/a/b', '~/b'], '/a/b')).toBe('1');
  expect(find(['/a/x', '/a/b', '/a/*', '/a/b'], '/a/b')).toBe('1');
  expect(find(['git', '/a/b**', '/a/c'], '/a/b')).toBeUndefined();
});

test('nothing matches once the effort is spent', () => {
  expect(find(['/**/b'], '/a/b', 100)).toBe('0');
  expect(find(['/**/b'], `${'/a'.repeat(200)}/b`, 100)).toBeUndefined();
  expect(find(['/**/c', '/a/b'], '/a/b', 1)).toBeUndefined();
});

test('matching takes time in proportion to the path', () => {
  const pattern = `/*${'a'.repeat(100)}b`;
  const deep = `/**/${'a/'.repeat(100)}b`;
  const measure = (path: string, of: string) => {
    return cpuMs(() => expect(matches(of, path)).toBe(false));
  };
  for (const [of, unit] of [
    [pattern, 'a'],
    [deep, '/a'],
  ] as const) {
    const path = (length: number) => (unit === 'a' ? `/${unit.repeat(length)}` : unit.repeat(length / 2));
    measure(path(500), of);
    // Four times the path: far less than the sixteen times of quadratic work.
    expect(measure(path(4000), of)).toBeLessThan(12 * measure(path(1000), of) + 5);
  }
});
