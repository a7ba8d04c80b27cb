import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toJsonValue } from '../src/to_json_value.ts';

class Money {
  amount = 1;
}

const cycle: Record<string, unknown> = {};
cycle.self = { back: cycle };

const sparse = [1, 2, 3];
delete sparse[1];

const emptyTail: number[] = [1];
emptyTail.length = 3;

let deep: unknown = 1;
for (let level = 0; level < 65; level += 1) {
  deep = [deep];
}

const refused: [name: string, value: unknown, pointer: string][] = [
  ['an undefined member', { memo: undefined }, '/memo'],
  ['undefined itself', undefined, ''],
  ['a function', { a: { run: () => 1 } }, '/a/run'],
  ['a toJSON function', { toJSON: () => ({ amount: 1 }) }, '/toJSON'],
  ['a symbol', { a: Symbol('x') }, '/a'],
  ['a member named by a symbol', { a: { [Symbol('x')]: 1 } }, '/a'],
  ['NaN', { amount: Number.NaN }, '/amount'],
  ['an infinity', { amount: Number.POSITIVE_INFINITY }, '/amount'],
  ['a bigint', { amount: 1n }, '/amount'],
  ['a date', { at: new Date(0) }, '/at'],
  ['a map', { m: new Map() }, '/m'],
  ['a set', { s: new Set() }, '/s'],
  ['a regular expression', { r: /x/ }, '/r'],
  ['a class instance', { price: new Money() }, '/price'],
  ['a boxed number', { n: Object(1) }, '/n'],
  ['bytes', { b: new Uint8Array(2) }, '/b'],
  ['an object that inherits members', Object.create({ amount: 1 }), ''],
  ['a hole of an array', { list: sparse }, '/list/1'],
  ['a hole at the end of an array', { list: emptyTail }, '/list'],
  ['an array with a further member', { list: Object.assign([1], { extra: 2 }) }, '/list'],
  ['an array with a symbol', { list: Object.assign([1], { [Symbol('x')]: 2 }) }, '/list'],
  ['a subclass of arrays', { list: new (class List extends Array {})() }, '/list'],
  ['a cycle', cycle, '/self/back'],
  ['an accessor', Object.defineProperty({}, 'amount', { get: () => 1, enumerable: true }), '/amount'],
  ['an accessor in an array', { l: Object.defineProperty([1], 0, { get: () => 1 }) }, '/l/0'],
  ['a member that is not enumerable', Object.defineProperty({}, 'amount', { value: 1 }), '/amount'],
  ['a lone surrogate', { a: ['\ud800'] }, '/a/0'],
  ['a lone surrogate in a name', { '\udfff': 1 }, '/\udfff'],
  ['__proto__', JSON.parse('{"__proto__": 1}'), '/__proto__'],
  ['__entity', { a: { __entity: 1 } }, '/a/__entity'],
  ['__extn', { __extn: 1 }, '/__extn'],
  ['__expr', { __expr: 1 }, '/__expr'],
  ['65 levels', deep, '/0'.repeat(64)],
  ['a name with a slash and a tilde', { 'a/b~c': undefined }, '/a~1b~0c'],
];

describe('what is not JSON is a TypeError that names its place', () => {
  test.each(refused)('%s', (_name, value, pointer) => {
    expect(() => toJsonValue(value)).toThrow(TypeError);
    expect(() => toJsonValue(value)).toThrow(`\`${pointer}\`: `);
  });
});

test('no getter of an argument runs', () => {
  let reads = 0;
  const trap = {
    get amount() {
      reads += 1;
      return 1;
    },
  };
  expect(() => toJsonValue(trap)).toThrow(TypeError);
  expect(reads).toBe(0);
});

test('an inherited toJSON is not called', () => {
  const value = Object.assign(Object.create(null), { amount: 1 });
  expect(toJsonValue(value)).toEqual({ amount: 1 });
});

test('a proxy is read once for each member, so it cannot show two faces', () => {
  const seen: PropertyKey[] = [];
  const twoFaced = new Proxy(
    { amount: 0 },
    {
      getOwnPropertyDescriptor: (_target, name) => {
        seen.push(name);
        return { value: seen.length, enumerable: true, configurable: true, writable: true };
      },
      get: () => {
        throw new Error('a member was read past its descriptor');
      },
    },
  );
  expect(toJsonValue({ inner: twoFaced })).toEqual({ inner: { amount: 1 } });
  expect(seen).toEqual(['amount']);
});

test('plain objects and arrays of another realm are taken', () => {
  expect(toJsonValue(runInNewContext('({ list: [1, { a: null }], text: "x" })'))).toEqual({
    list: [1, { a: null }],
    text: 'x',
  });
});

test('an object met twice without a cycle is taken twice', () => {
  const shared = { a: 1 };
  expect(toJsonValue({ one: shared, two: [shared] })).toEqual({ one: { a: 1 }, two: [{ a: 1 }] });
});

test('every JSON value comes back equal, and as a copy', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (value) => {
      fc.pre(!/__(proto|entity|extn|expr)/.test(JSON.stringify(value)));
      const copy = toJsonValue(value);
      // By text: minus zero, which JSON writes as 0, is the same number.
      expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
      if (typeof value === 'object' && value !== null) {
        expect(copy).not.toBe(value);
      }
    }),
  );
});
