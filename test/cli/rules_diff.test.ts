import { describe, expect, test } from 'vitest';
import { diffRules } from '../../src/policy/rules_diff.ts';
import { diffLines } from '../../src/policy/text_diff.ts';

/** What a diff says of either side. */
function sideOf(lines: string[], sign: '-' | '+'): string {
  return lines
    .filter((line) => line.startsWith(' ') || line.startsWith(sign))
    .map((line) => line.slice(1))
    .join('\n');
}

describe('the difference of two texts', () => {
  test.each<[from: string, to: string, lines: string[]]>([
    ['a\nb\nc', 'a\nb\nc', [' a', ' b', ' c']],
    ['a\nb\nc', 'a\nx\nc', [' a', '-b', '+x', ' c']],
    ['a\nb', 'a\nnew\nb', [' a', '+new', ' b']],
    ['a\na', 'a', [' a', '-a']],
    ['', 'x', ['-', '+x']],
    ['1\n2\n3\n4', '2\n9\n4', ['-1', ' 2', '-3', '+9', ' 4']],
  ])('%j and %j', (from, to, lines) => {
    expect(diffLines(from, to)).toEqual(lines);
  });

  test('holds both texts whole, also of ones too long to compare line by line', () => {
    const from = Array.from({ length: 3000 }, (_, index) => `line ${index % 7} ${index}`).join('\n');
    const to = Array.from({ length: 2000 }, (_, index) => `line ${index % 5} ${index * 2}`).join('\n');
    const lines = diffLines(from, to);
    expect(sideOf(lines, '-')).toBe(from);
    expect(sideOf(lines, '+')).toBe(to);
  });
});

const policy = (id: string, rest = '') => `@id("${id}")\npermit (principal, action, resource)${rest};`;

test('policies are told by id, and those of which only the form changed as such', () => {
  const from = { policies: { a: policy('a'), b: policy('b'), c: policy('c') }, tools: [] };
  const to = {
    policies: { b: policy('b').replace('\n', ' '), c: policy('c', ' when { true }'), d: policy('d') },
    tools: [],
  };
  expect(diffRules(from, to).policies).toMatchObject({
    added: ['d'],
    removed: ['a'],
    changed: [
      { id: 'b', meansOther: false },
      { id: 'c', meansOther: true },
    ],
  });
});

test('tools are told by the members that changed; the order of members is no change', () => {
  const tool = { tool: 't', action: 'a', destructive: false, parameters_schema: { type: 'object', x: 1 } };
  const same = { tool: 't', action: 'same', mutates_state: true };
  const from = { policies: {}, tools: [tool, same, { tool: 't', action: 'gone' }] };
  const to = {
    policies: {},
    tools: [
      { mutates_state: true, action: 'same', tool: 't' },
      { ...tool, destructive: true, parameters_schema: { x: 1, type: 'object' } },
      { tool: 'u', action: 'new' },
    ],
  };
  expect(diffRules(from, to).tools).toEqual({
    added: ['u.new'],
    removed: ['t.gone'],
    changed: [{ action: 't.a', members: [{ name: 'destructive', from: false, to: true }] }],
  });
});
