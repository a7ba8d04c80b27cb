import type { JsonObject, JsonValue } from '../core/json.ts';
import {
  CHILD,
  CHILD_LISTS,
  CHILD_MAPS,
  DEFINITIONS,
  isSchemaObject,
  SAME_PLACE,
  SAME_PLACE_LISTS,
  SAME_PLACE_MAPS,
} from './subschemas.ts';

/**
 * The same JSON Schema with every object in it closed, unless the schema says `additionalProperties` or
 * `unevaluatedProperties` there itself: a member that nobody declared is then an error. Branches of `allOf`,
 * `anyOf` and the like are closed together, at the schema they stand in, by `unevaluatedProperties`
 * (JSON Schema 2020-12, core §11.3).
 */
export function closeSchema(schema: JsonValue): JsonValue {
  return isSchemaObject(schema) ? closeObject(schema, true) : schema;
}

function closeObject(schema: JsonObject, isOutermost: boolean): JsonObject {
  const closed = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, closeKeyword(keyword, value)]),
  );
  const saysItself = 'additionalProperties' in schema || 'unevaluatedProperties' in schema;
  if (!isOutermost || saysItself) {
    return closed;
  }
  if ([...SAME_PLACE_LISTS, ...SAME_PLACE_MAPS, ...SAME_PLACE].some((keyword) => keyword in schema)) {
    return { ...closed, unevaluatedProperties: false };
  }
  return describesObject(schema) ? { ...closed, additionalProperties: false } : closed;
}

function closeKeyword(keyword: string, value: JsonValue): JsonValue {
  if (CHILD.includes(keyword)) return closeSchema(value);
  if (CHILD_LISTS.includes(keyword)) return mapList(value, closeSchema);
  if (CHILD_MAPS.includes(keyword) || DEFINITIONS.includes(keyword)) return mapMembers(value, closeSchema);
  if (SAME_PLACE.includes(keyword)) return closeBranch(value);
  if (SAME_PLACE_LISTS.includes(keyword)) return mapList(value, closeBranch);
  if (SAME_PLACE_MAPS.includes(keyword)) return mapMembers(value, closeBranch);
  return value;
}

function closeBranch(schema: JsonValue): JsonValue {
  return isSchemaObject(schema) ? closeObject(schema, false) : schema;
}

function describesObject(schema: JsonObject): boolean {
  const { type } = schema;
  const isObjectType = type === 'object' || (Array.isArray(type) && type.includes('object'));
  return isObjectType || 'properties' in schema || 'patternProperties' in schema;
}

function mapList(value: JsonValue, close: (schema: JsonValue) => JsonValue): JsonValue {
  return Array.isArray(value) ? value.map(close) : value;
}

function mapMembers(value: JsonValue, close: (schema: JsonValue) => JsonValue): JsonValue {
  return isSchemaObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, close(schema)]))
    : value;
}
