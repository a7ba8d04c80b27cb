import type { JsonObject, JsonValue } from '../../../src/core/json.ts';
import { formatPointer, LONE_SURROGATE, RESERVED_MEMBERS } from '../../../src/core/json_rules.ts';
import { JSON_LEVELS_MAX } from '../../../src/core/strict_json.ts';

/** Where the conversion is: the containers it is inside of, and the names that lead there. */
interface Place {
  readonly ancestors: object[];
  readonly path: (string | number)[];
  readonly levelsMax: number;
}

/**
 * A deep copy of `value` as a JSON value, or a `TypeError` that names the place at fault as a JSON Pointer
 * (RFC 6901): nothing is dropped, coerced or called. Refused are `undefined` (a hole included), functions,
 * symbols, `bigint`, numbers that are not finite, every object that is not a plain object or array (dates, maps,
 * sets, instances, boxed values), accessors, symbol and non-enumerable members, further members of arrays, cycles,
 * lone surrogates, reserved names, and more than `levelsMax` levels. `toJSON` is never called.
 *
 * Each member is read once, through its descriptor, so no getter runs and a proxy cannot show two faces.
 */
export function toJsonValue(value: unknown, levelsMax: number = JSON_LEVELS_MAX): JsonValue {
  return convert(value, { ancestors: [], path: [], levelsMax });
}

function convert(value: unknown, place: Place): JsonValue {
  switch (typeof value) {
    case 'string':
      return checkText(value, place);
    case 'number':
      return Number.isFinite(value) ? value : fail(place, `\`${value}\` is not json`);
    case 'boolean':
      return value;
    case 'object':
      return value === null ? null : convertContainer(value, place);
    default:
      return fail(place, `a value of type \`${typeof value}\` is not json`);
  }
}

function convertContainer(value: object, place: Place): JsonValue {
  if (place.ancestors.includes(value)) {
    return fail(place, 'a cycle is not json');
  }
  if (place.ancestors.length === place.levelsMax) {
    return fail(place, `more than ${place.levelsMax} levels`);
  }
  place.ancestors.push(value);
  const copy = Array.isArray(value) ? convertArray(value, place) : convertObject(value, place);
  place.ancestors.pop();
  return copy;
}

function convertObject(value: object, place: Place): JsonObject {
  if (!isPlainPrototype(Object.getPrototypeOf(value))) {
    return fail(place, 'an object that is not plain is not json. Pass its data as a plain object');
  }
  checkNoSymbols(value, place);
  const copy: JsonObject = {};
  for (const name of Object.getOwnPropertyNames(value)) {
    place.path.push(name);
    if (RESERVED_MEMBERS.has(name)) {
      return fail(place, 'the name is reserved');
    }
    checkText(name, place);
    copy[name] = convertMember(value, name, place);
    place.path.pop();
  }
  return copy;
}

function convertArray(value: unknown[], place: Place): JsonValue[] {
  if (!isArrayPrototype(Object.getPrototypeOf(value))) {
    return fail(place, 'an instance of a subclass of arrays is not json. Pass a plain array');
  }
  // Own members of an array without holes and extras are its elements, in order, then `length`.
  checkNoSymbols(value, place);
  const names = Object.getOwnPropertyNames(value);
  const length = names.indexOf('length');
  const copy: JsonValue[] = [];
  for (let index = 0; index < length; index += 1) {
    place.path.push(index);
    if (names[index] !== String(index)) {
      return fail(place, 'an array with a hole is not json');
    }
    copy.push(convertMember(value, String(index), place));
    place.path.pop();
  }
  if (Reflect.getOwnPropertyDescriptor(value, 'length')?.value !== length) {
    return fail(place, 'an array with a hole is not json');
  }
  if (names.length !== length + 1) {
    return fail(place, `an array with a further member, \`${names[length + 1]}\`, is not json`);
  }
  return copy;
}

/** Apart from the names: asking for both at once, `Reflect.ownKeys`, takes three times as long. */
function checkNoSymbols(value: object, place: Place): void {
  const [symbol] = Object.getOwnPropertySymbols(value);
  if (symbol !== undefined) {
    fail(place, `a member named by a symbol, \`${String(symbol)}\`, is not json`);
  }
}

function convertMember(container: object, name: string, place: Place): JsonValue {
  const member = Reflect.getOwnPropertyDescriptor(container, name);
  if (member === undefined || !('value' in member)) {
    return fail(place, 'a member that is computed by an accessor is not json');
  }
  if (!member.enumerable) {
    return fail(place, 'a member that is not enumerable is not json');
  }
  return convert(member.value, place);
}

function checkText(text: string, place: Place): string {
  return LONE_SURROGATE.test(text) ? fail(place, 'a string with a lone surrogate is not json') : text;
}

/** Also true of the `Object.prototype` of another realm, as under a test runner that uses `node:vm`. */
function isPlainPrototype(prototype: object | null): boolean {
  return (
    prototype === null ||
    prototype === Object.prototype ||
    (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf'))
  );
}

/** Also true of the `Array.prototype` of another realm: it is itself an array, an empty one. */
function isArrayPrototype(prototype: object | null): boolean {
  return prototype === Array.prototype || (Array.isArray(prototype) && prototype.length === 0);
}

function fail(place: Place, message: string): never {
  throw new TypeError(`\`${formatPointer(place.path)}\`: ${message}`);
}
