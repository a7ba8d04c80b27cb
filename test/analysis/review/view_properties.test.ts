import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolCall } from '../../../src/core/action.ts';
import { canonicalAction } from '../../../src/core/canonical_action.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/core/json.ts';
import type { ReviewFacts } from '../../../src/core/review.ts';
import { NO_FACTS, SHELL_FACTS, textsOf, UNSAFE, viewOf } from './support.ts';

/** Texts full of what could make two different actions look alike. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 3 }),
      fc.string({ unit: 'grapheme-ascii', maxLength: 5 }),
      fc.constantFrom(
        '\\u{',
        '\\u{a}',
        '}',
        '\\',
        '"',
        ': ',
        '/',
        '~',
        '~1',
        '.',
        ' ',
        '\n',
        '\u202e',
        '\u200b',
        'a',
      ),
      fc.constantFrom(
        '1',
        'null',
        'true',
        '[]',
        '{}',
        '(absent)',
        '(secret 0123abcd)',
        '\u0430',
        '\u00e9',
        'e\u0301',
      ),
      fc.constantFrom('x'.repeat(500), ' characters left out}', 'echo ', ' | ', '; ', 'A=1 '),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''))
  .filter((one) => !/\p{Surrogate}/u.test(one));

const key = fc.oneof(
  text,
  fc.constantFrom('command', 'argv', 'cwd', 'env', 'resolved_paths', 'file_digests', 'path', 'to', '0', '1'),
);

const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  text,
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom<JsonValue>(null, true, false, 0.5, 1e21, '1', 'null', 'true', '0.5', ''),
);

function toObject(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  return Object.fromEntries(entries.filter(([name]) => name !== '__proto__'));
}

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 3 }).map(toObject),
  ),
}));

const parameters = fc.array(fc.tuple(key, value), { maxLength: 4 }).map(toObject);

const FACTS: readonly ReviewFacts[] = [
  NO_FACTS,
  SHELL_FACTS,
  {
    ...SHELL_FACTS,
    registered: false,
    pathParameters: ['path', 'cwd'],
    hostParameters: ['to'],
    workspaceRoot: '/w',
  },
];

const call: fc.Arbitrary<ToolCall> = fc.record({
  tool: text,
  action: text,
  resource: fc.option(text),
  mutates_state: fc.boolean(),
  parameters,
});

/** One place of a value changed into what looks like it, or moved. */
function mutate(target: JsonValue, seed: number): JsonValue {
  if (Array.isArray(target) && target.length > 0) {
    const index = seed % target.length;
    if (seed % 5 === 0) return Object.fromEntries(target.map((item, at) => [String(at), item]));
    if (seed % 7 === 0) return target.toSpliced(index, 1);
    return target.with(index, mutate(target[index] ?? null, Math.floor(seed / 3)));
  }
  if (typeof target === 'object' && target !== null && !Array.isArray(target)) {
    const names = Object.keys(target);
    const name = names[seed % Math.max(names.length, 1)];
    if (name === undefined) return seed % 2 === 0 ? [] : '{}';
    const { [name]: item, ...others } = target;
    if (seed % 5 === 0) return others;
    if (seed % 7 === 0) return { ...others, [`${name}/`]: item ?? null };
    if (seed % 11 === 0) return { ...others, [name.replaceAll('/', '~1')]: item ?? null };
    return { ...others, [name]: mutate(item ?? null, Math.floor(seed / 3)) };
  }
  if (typeof target !== 'string') return String(target);
  const changes: JsonValue[] = [
    `${target}\u200b`,
    `${target} `,
    target.normalize('NFD'),
    target.replaceAll('a', '\u0430'),
    target.replaceAll('\\u{', '\\\\u{'),
    target.replaceAll('\n', '\\u{a}'),
    [target],
    target === '' ? null : [...target].slice(1).join(''),
    target.length > 300 ? target.replace('xx', 'xy') : `"${target}"`,
    /^-?\d+$/.test(target) ? Number(target) : `${target}\\u{202e}`,
  ];
  return changes[seed % changes.length] ?? null;
}

function mutateAll(target: JsonObject, seed: number): JsonObject {
  const mutated = mutate(target, seed);
  return isJsonObject(mutated) ? mutated : { mutated };
}

describe('of any two actions', () => {
  test('the views are equal only if the bytes are', () => {
    fc.assert(
      fc.property(call, call, fc.nat(1_000_000), fc.constantFrom(...FACTS), (one, other, seed, facts) => {
        const mutated = { ...one, parameters: mutateAll(one.parameters, seed) };
        const swapped = { ...one, resource: one.resource === null ? 'null' : `${one.resource}\u2060` };
        const resolved = { tool: 'crm', action: 'note' };
        const view = viewOf(one, { facts, resolved });
        for (const another of [other, mutated, swapped, { ...one, mutates_state: !one.mutates_state }]) {
          const isSame = canonicalAction(one) === canonicalAction(another);
          const { view_hash, lines } = viewOf(another, { facts, resolved });
          expect(view_hash === view.view_hash).toBe(isSame);
          expect(JSON.stringify(lines) === JSON.stringify(view.lines)).toBe(isSame);
        }
      }),
      { numRuns: 400 },
    );
  });

  test('so are the views of edits, by what was asked first', () => {
    fc.assert(
      fc.property(parameters, parameters, parameters, (one, other, current) => {
        const action = { tool: 't', action: 'a', resource: null, mutates_state: true, parameters: current };
        const edited = (first: JsonObject) =>
          viewOf(action, { originalAction: canonicalAction({ ...action, parameters: first }) }).view_hash;
        const isSame =
          canonicalAction({ ...action, parameters: one }) ===
          canonicalAction({ ...action, parameters: other });
        expect(edited(one) === edited(other)).toBe(isSame);
      }),
      { numRuns: 300 },
    );
  });
});

describe('of any action, the view', () => {
  test('has no control, bidi, zero-width, invisible or unassigned character in any text, label or pointer', () => {
    fc.assert(
      fc.property(call, parameters, fc.constantFrom(...FACTS), (one, original, facts) => {
        const view = viewOf(one, {
          facts,
          originalAction: canonicalAction({ ...one, parameters: original }),
          secretParameters: ['argv'],
        });
        for (const shown of textsOf(view)) expect(shown).not.toMatch(UNSAFE);
      }),
      { numRuns: 400 },
    );
  });

  test('is the same each time', () => {
    fc.assert(
      fc.property(call, fc.constantFrom(...FACTS), (one, facts) => {
        expect(viewOf(one, { facts })).toStrictEqual(viewOf(structuredClone(one), { facts }));
      }),
      { numRuns: 100 },
    );
  });
});
