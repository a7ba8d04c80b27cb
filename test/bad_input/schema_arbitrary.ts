import fc from 'fast-check';

/** As much of JSON Schema 2020-12 as the served document uses for what is sent. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
}

type Definitions = { components: { schemas: Record<string, JsonSchema> } };

/** Longer arrays and texts than these say nothing more. */
const ITEMS_MAX = 5;
const LENGTH_MAX = 300;

/** Values that fit a schema, or nearly so: texts of a pattern are tried now and then as any text. */
export function arbitraryOf(schema: JsonSchema, document: Definitions): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    const target = document.components.schemas[name];
    if (target === undefined) throw new Error(`no schema \`${schema.$ref}\``);
    return arbitraryOf(target, document);
  }
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => arbitraryOf(one, document)));
  const types = [schema.type ?? 'object'].flat();
  return fc.oneof(...types.map((type) => arbitraryOfType(type, schema, document)));
}

function arbitraryOfType(type: string, schema: JsonSchema, document: Definitions): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -(2 ** 31), max: schema.maximum ?? 2 ** 31 });
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'array':
      return fc.array(arbitraryOf(schema.items ?? {}, document), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? ITEMS_MAX, ITEMS_MAX),
      });
    case 'string':
      return arbitraryText(schema);
    default:
      return arbitraryObject(schema, document);
  }
}

function arbitraryText(schema: JsonSchema): fc.Arbitrary<string> {
  const minLength = schema.minLength ?? 0;
  const any = fc.string({
    unit: 'grapheme',
    minLength,
    maxLength: Math.min(schema.maxLength ?? LENGTH_MAX, LENGTH_MAX),
  });
  if (schema.format === 'date-time') {
    const date = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    return date.map((instant) => instant.toISOString());
  }
  if (schema.pattern === undefined) return any;
  return fc.oneof(
    { weight: 9, arbitrary: fc.stringMatching(new RegExp(schema.pattern)) },
    { weight: 1, arbitrary: any },
  );
}

function arbitraryObject(schema: JsonSchema, document: Definitions): fc.Arbitrary<unknown> {
  if (schema.properties === undefined) return fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }));
  const members: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(
    Object.entries(schema.properties).map(([name, member]) => [name, arbitraryOf(member, document)]),
  );
  return fc.record(members, { requiredKeys: schema.required ?? [] });
}
