import type { JsonObject, JsonValue } from '../../core/json.ts';
import { foldInPlace } from './fold.ts';
import type { Sheet } from './sheet.ts';
import { escapeOf } from './show_text.ts';

/** Values that have a line each; of an action with more, each container is one value. */
const LEAVES_MAX = 1_000;
const POINTER_LENGTH_MAX = 240;

/** A value that has a line of its own: no container but an empty one, or one too large to take apart. */
export interface Leaf {
  /** JSON Pointer as shown: long ones are folded, and secrets in it hidden. */
  pointer: string;
  /** The nearest member's name before it. */
  name: string;
  value: JsonValue;
}

/** Whether an action has more values than can have a line each. */
export function isWide(parameters: JsonObject): boolean {
  return countLeaves(parameters, LEAVES_MAX) > LEAVES_MAX;
}

function countLeaves(value: JsonValue, max: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  const items = Object.values(value);
  let count = items.length === 0 ? 1 : 0;
  for (const item of items) {
    if (count > max) break;
    count += countLeaves(item, max - count);
  }
  return count;
}

const INDEX = /^(?:0|[1-9][0-9]*)$/;

/**
 * The pointer of a member; shown as every text of a view is. A name that reads as an index has its first digit as an
 * escape: a pointer alone does not tell `{"0": 1}` from `[1]`.
 */
export function pointerTo(sheet: Sheet, parent: string, name: string): string {
  const shown = sheet.showStep(name, parent);
  const step = INDEX.test(name) ? escapeOf(shown.charAt(0)) + shown.slice(1) : shown;
  return foldInPlace(`${parent}/${step}`, POINTER_LENGTH_MAX);
}

/** The pointer of an item of an array. */
export function pointerToItem(parent: string, index: number): string {
  return foldInPlace(`${parent}/${index}`, POINTER_LENGTH_MAX);
}

/** The values in a value, in canonical order (RFC 8785 §3.2.3). */
export function listLeaves(sheet: Sheet, name: string, value: JsonValue, pointer: string): Leaf[] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    return [{ pointer, name, value }];
  }
  return Array.isArray(value)
    ? value.flatMap((item, index) => listLeaves(sheet, name, item, pointerToItem(pointer, index)))
    : sortedMembers(value).flatMap(([key, item]) =>
        listLeaves(sheet, key, item, pointerTo(sheet, pointer, key)),
      );
}

/** The members of an object in canonical order: that of their names' UTF-16 code units. */
export function sortedMembers(object: JsonObject): [string, JsonValue][] {
  return Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1));
}
