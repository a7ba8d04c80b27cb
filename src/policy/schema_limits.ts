import { Ajv2020 } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { canonicalize } from '../core/canonical_json.ts';
import type { JsonObject, JsonValue } from '../core/json.ts';
import { formatPointer } from '../core/json_rules.ts';
import { findNearestName } from '../core/nearest_name.ts';
import type { RegistrationFault } from './registration_fault.ts';
import { childrenOf, isSamePlace, isSchemaObject, listSubschemas, type Subschema } from './subschemas.ts';

const SCHEMA_BYTES_MAX = 65_536;
const SCHEMA_DEPTH_MAX = 16;
const SUBSCHEMAS_MAX = 200;
/** Instructions that all patterns of a schema may compile to: what they cost to compile, and to run. */
const PATTERN_INSTRUCTIONS_MAX = 10_000;

/** Keywords that are understood wherever a schema stands; any other refuses the schema. */
const KEYWORDS: readonly string[] = [
  ...['type', 'enum', 'const', 'multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'],
  ...[
    'maxLength',
    'minLength',
    'pattern',
    'maxItems',
    'minItems',
    'uniqueItems',
    'maxContains',
    'minContains',
  ],
  ...['maxProperties', 'minProperties', 'required', 'dependentRequired', 'properties', 'patternProperties'],
  ...['additionalProperties', 'propertyNames', 'unevaluatedProperties', 'items', 'prefixItems', 'contains'],
  ...['unevaluatedItems', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas'],
  ...['$ref', '$defs', 'definitions', '$comment', 'title', 'description', 'default', 'deprecated'],
  ...['readOnly', 'writeOnly', 'examples', 'format', 'contentMediaType', 'contentEncoding'],
];
/** Keywords that say something of the schema as a whole, and change nothing here: schemas are read as 2020-12. */
const OUTERMOST_KEYWORDS: readonly string[] = ['$schema', '$id'];
const SLIPS_MAX = 2;

/**
 * What keeps a parameter schema from being compiled safely: its size and depth, keywords that are not understood,
 * references to anywhere but itself or round in circles, patterns that are too large. Pointers are from the schema.
 */
export function findSchemaFaults(schema: JsonObject): RegistrationFault[] {
  const bytes = new TextEncoder().encode(canonicalize(schema)).length;
  if (bytes > SCHEMA_BYTES_MAX) {
    return [fault('', `has ${bytes} bytes in canonical form`, `At most ${SCHEMA_BYTES_MAX} are allowed.`)];
  }
  const subschemas = [...listSubschemas(schema)];
  const count = subschemas.length + countDependents(subschemas);
  if (count > SUBSCHEMAS_MAX) {
    return [fault('', `has ${count} subschemas`, `At most ${SUBSCHEMAS_MAX} are allowed.`)];
  }
  const tooDeep = subschemas.find(({ depth }) => depth > SCHEMA_DEPTH_MAX);
  if (tooDeep !== undefined) {
    const help = `At most ${SCHEMA_DEPTH_MAX} schemas may stand inside each other.`;
    return [fault(tooDeep.pointer, 'is too deep', help)];
  }
  const faults = [
    ...findDataReferences(schema, []),
    ...subschemas.flatMap(findKeywordFaults),
    ...findReferenceFaults(subschemas),
  ];
  if (faults.length > 0) return faults;
  const [malformed] = findMalformed(schema);
  return malformed === undefined ? findPatternFaults(subschemas) : [malformed];
}

function fault(pointer: string, message: string, help: string): RegistrationFault {
  return { pointer, message, help };
}

/** Each name under `dependentRequired` is looked for in every object, as a schema for it would be. */
function countDependents(subschemas: readonly Subschema[]): number {
  const named = subschemas.flatMap(({ schema }) =>
    isSchemaObject(schema) && isSchemaObject(schema.dependentRequired)
      ? Object.keys(schema.dependentRequired)
      : [],
  );
  return named.length;
}

/** `{"$data": …}` would take a keyword's value from the call itself. Nothing here reads it; nobody shall think so. */
function findDataReferences(value: JsonValue, path: readonly (string | number)[]): RegistrationFault[] {
  if (typeof value !== 'object' || value === null) return [];
  const here = Object.hasOwn(value, '$data')
    ? [fault(formatPointer(path), 'has `$data`', 'Write the value itself.')]
    : [];
  const inside = Object.entries(value).flatMap(([name, member]) =>
    findDataReferences(member, [...path, name]),
  );
  return [...here, ...inside];
}

function findKeywordFaults({ schema, pointer, depth }: Subschema): RegistrationFault[] {
  if (typeof schema === 'boolean') return [];
  if (!isSchemaObject(schema))
    return [fault(pointer, 'is no schema', 'A schema is an object, true or false.')];
  return Object.keys(schema)
    .filter((name) => !KEYWORDS.includes(name) && !(depth === 1 && OUTERMOST_KEYWORDS.includes(name)))
    .map((name) =>
      fault(`${pointer}${formatPointer([name])}`, `unknown keyword \`${name}\``, keywordHelp(name)),
    );
}

let schemaOfSchemas: Ajv2020 | undefined;

/** Where a keyword's value is none that it may have (JSON Schema 2020-12, by its own schema). */
function findMalformed(schema: JsonObject): RegistrationFault[] {
  const { $schema: _dialect, $id: _id, ...rest } = schema;
  schemaOfSchemas ??= new Ajv2020({ strict: false, validateFormats: false });
  if (schemaOfSchemas.validateSchema(rest)) return [];
  const [error] = schemaOfSchemas.errors ?? [];
  const help = 'Write it as JSON Schema 2020-12 has it.';
  return [fault(error?.instancePath ?? '', error?.message ?? 'is no json schema', help)];
}

const KEYWORD_HELP: Record<string, string> = {
  dependencies: 'Write `dependentRequired` or `dependentSchemas`.',
  nullable: 'Name "null" among the types of `type`.',
  additionalItems: 'Write `prefixItems` with `items`.',
  $anchor: 'Refer to a schema by its place, as "#/$defs/name".',
};

function keywordHelp(name: string): string {
  const nearest = findNearestName(name, KEYWORDS, SLIPS_MAX);
  if (Object.hasOwn(KEYWORD_HELP, name)) return KEYWORD_HELP[name] ?? '';
  return nearest === undefined ? 'Remove it.' : `Did you mean \`${nearest}\`?`;
}

function findReferenceFaults(subschemas: readonly Subschema[]): RegistrationFault[] {
  const byPointer = new Map(subschemas.map((subschema) => [subschema.pointer, subschema]));
  const faults = subschemas.flatMap(({ schema, pointer }) => {
    const reference = isSchemaObject(schema) ? schema.$ref : undefined;
    if (reference === undefined || findTarget(reference, byPointer) !== undefined) return [];
    const help = 'Refer to a schema of the same document by its place, as "#/$defs/name" or "#".';
    return [fault(`${pointer}/$ref`, 'refers to no schema of this document', help)];
  });
  return faults.length > 0 ? faults : findCircles(subschemas, byPointer);
}

function findTarget(
  reference: JsonValue | undefined,
  byPointer: ReadonlyMap<string, Subschema>,
): Subschema | undefined {
  if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) return undefined;
  try {
    return byPointer.get(decodeURIComponent(reference.slice(1)));
  } catch {
    return undefined;
  }
}

/** A schema that leads back to itself at the same place of the value would be checked for ever. */
function findCircles(
  subschemas: readonly Subschema[],
  byPointer: ReadonlyMap<string, Subschema>,
): RegistrationFault[] {
  const finished = new Set<string>();
  const open = new Set<string>();
  const circular = (pointer: string): boolean => {
    if (open.has(pointer)) return true;
    const schema = byPointer.get(pointer)?.schema;
    if (finished.has(pointer) || !isSchemaObject(schema)) return false;
    open.add(pointer);
    const target = findTarget(schema.$ref, byPointer);
    const next = childrenOf(schema).flatMap(({ keyword, path }) =>
      isSamePlace(keyword) ? [`${pointer}${formatPointer(path)}`] : [],
    );
    const found = [...next, ...(target === undefined ? [] : [target.pointer])].some(circular);
    open.delete(pointer);
    finished.add(pointer);
    return found;
  };
  const found = subschemas.find(({ pointer }) => circular(pointer));
  if (found === undefined) return [];
  const help = 'A reference to what it stands in has to go through `properties` or `items`.';
  return [fault(found.pointer, 'refers to itself without going deeper', help)];
}

function findPatternFaults(subschemas: readonly Subschema[]): RegistrationFault[] {
  let instructions = 0;
  for (const { pattern, pointer } of subschemas.flatMap(patternsOf)) {
    const size = measurePattern(pattern);
    if (size === undefined) {
      const help = 'Write it without look-around, back references and repeats above 1000 (RE2 syntax).';
      return [fault(pointer, 'is a pattern that no engine of linear time runs', help)];
    }
    instructions += size;
    if (instructions > PATTERN_INSTRUCTIONS_MAX) {
      return [fault(pointer, 'makes the patterns too large together', 'Shorten them, or their repeats.')];
    }
  }
  return [];
}

function patternsOf({ schema, pointer }: Subschema): { pattern: string; pointer: string }[] {
  if (!isSchemaObject(schema)) return [];
  const named = isSchemaObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : [];
  const own =
    typeof schema.pattern === 'string' ? [{ pattern: schema.pattern, pointer: `${pointer}/pattern` }] : [];
  return [
    ...own,
    ...named.map((pattern) => ({
      pattern,
      pointer: `${pointer}/patternProperties${formatPointer([pattern])}`,
    })),
  ];
}

/** Longer texts are not even tried: compiling takes time in their length. */
const PATTERN_LENGTH_MAX = 4_096;

function measurePattern(pattern: string): number | undefined {
  if (pattern.length > PATTERN_LENGTH_MAX) return Number.POSITIVE_INFINITY;
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern)).programSize();
  } catch {
    return undefined;
  }
}
