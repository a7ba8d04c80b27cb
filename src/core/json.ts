/** A value of JSON (RFC 8259) as the strict reader yields it: no `undefined`, no number that is not finite. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** An object of JSON. Objects made by the strict reader have no prototype-changing member. */
export interface JsonObject {
  [member: string]: JsonValue;
}
