import type { JsonObject, JsonValue } from '../core/json.ts';
import { formatPointer } from '../core/json_rules.ts';

// Where a JSON Schema (2020-12, core §10 and §11) holds others.

/** Keywords whose value is a subschema for another place of the value. */
export const CHILD: readonly string[] = [
  'items',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
];
export const CHILD_LISTS: readonly string[] = ['prefixItems'];
export const CHILD_MAPS: readonly string[] = ['properties', 'patternProperties'];
/** Subschemas that hold nowhere until something refers to them. */
export const DEFINITIONS: readonly string[] = ['$defs', 'definitions'];
/** Keywords whose value is a subschema, or several, for the same place. */
export const SAME_PLACE: readonly string[] = ['if', 'then', 'else', 'not'];
export const SAME_PLACE_LISTS: readonly string[] = ['allOf', 'anyOf', 'oneOf'];
export const SAME_PLACE_MAPS: readonly string[] = ['dependentSchemas'];

const SINGLE: readonly string[] = [...CHILD, ...SAME_PLACE];
const LISTS: readonly string[] = [...CHILD_LISTS, ...SAME_PLACE_LISTS];
const MAPS: readonly string[] = [...CHILD_MAPS, ...SAME_PLACE_MAPS, ...DEFINITIONS];

/** A schema inside another, or the outermost. */
export interface Subschema {
  schema: JsonValue;
  /** JSON Pointer (RFC 6901) from the outermost schema. */
  pointer: string;
  /** How many schemas it stands in, itself counted. */
  depth: number;
  /** The keyword that holds it; null for the outermost. */
  keyword: string | null;
}

/** A schema and every schema in it, each before those it holds. */
export function* listSubschemas(
  schema: JsonValue,
  path: readonly (string | number)[] = [],
  depth = 1,
  keyword: string | null = null,
): Generator<Subschema> {
  yield { schema, pointer: formatPointer(path), depth, keyword };
  for (const child of childrenOf(schema)) {
    yield* listSubschemas(child.schema, [...path, ...child.path], depth + 1, child.keyword);
  }
}

/** The schemas that a schema holds directly, with the keyword each stands under. */
export function childrenOf(
  schema: JsonValue,
): { schema: JsonValue; keyword: string; path: (string | number)[] }[] {
  if (!isSchemaObject(schema)) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (SINGLE.includes(keyword)) return [{ schema: value, keyword, path: [keyword] }];
    if (LISTS.includes(keyword) && Array.isArray(value)) {
      return value.map((item, index) => ({ schema: item, keyword, path: [keyword, index] }));
    }
    if (MAPS.includes(keyword) && isSchemaObject(value)) {
      return Object.entries(value).map(([name, member]) => ({
        schema: member,
        keyword,
        path: [keyword, name],
      }));
    }
    return [];
  });
}

/** Whether a keyword's subschemas hold for the same place as the schema they stand in. */
export function isSamePlace(keyword: string | null): boolean {
  return (
    keyword !== null &&
    (SAME_PLACE.includes(keyword) || SAME_PLACE_LISTS.includes(keyword) || SAME_PLACE_MAPS.includes(keyword))
  );
}

/** A schema that is an object; the others are `true` and `false`. */
export function isSchemaObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
