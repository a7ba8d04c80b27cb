/** A value of JSON (RFC 8259) as the strict reader yields it: no `undefined`, no number that is not finite. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** An object of JSON. Objects made by the strict reader have no prototype-changing member. */
export interface JsonObject {
  [member: string]: JsonValue;
}

/** Whether a value is an object of JSON: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else one without members. */
export function toJsonObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
