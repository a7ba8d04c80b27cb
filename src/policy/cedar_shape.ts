import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { RESERVED_MEMBERS } from '../core/json_rules.ts';
import type { CedarValueJson, Type } from './cedar.ts';
import type { ParameterProblem } from './parameter_problem.ts';

/** The form in which Cedar holds a parameter. */
export type Shape =
  | { kind: 'String' | 'Long' | 'Boolean' | 'decimal' }
  | { kind: 'Set'; element: Shape }
  | RecordShape;

export interface RecordShape {
  kind: 'Record';
  attributes: Record<string, { shape: Shape; isRequired: boolean }>;
}

export type Converted =
  | { kind: 'value'; value: CedarValueJson }
  | { kind: 'absent' }
  | { kind: 'problem'; problem: ParameterProblem };

export const EMPTY_RECORD: RecordShape = { kind: 'Record', attributes: {} };

/** Keywords under which a place may hold values of several forms. */
const COMBINING = [
  '$ref',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'dependentSchemas',
  'patternProperties',
];
/** Bounds of Cedar's `decimal`: a 64-bit number of ten-thousandths. */
const DECIMAL_MAX = 922_337_203_685_477;

interface Place {
  shape: Shape;
  /** The schema allows `null` here, which Cedar sees as an absent attribute. */
  isNullable: boolean;
}

/**
 * The form of a tool's parameters in Cedar, from its closed JSON Schema. What Cedar cannot hold soundly is not
 * in it: open objects, unions, mixed arrays, and numbers neither `integer` nor a multiple of 0.0001.
 */
export function parametersShape(closedSchema: JsonObject | null): RecordShape {
  const place = closedSchema === null ? undefined : placeOf(closedSchema);
  return place?.shape.kind === 'Record' ? place.shape : EMPTY_RECORD;
}

/** The same form as a type of a Cedar schema. */
export function toCedarType(shape: Shape): Type<string> {
  switch (shape.kind) {
    case 'decimal':
      return { type: 'Extension', name: 'decimal' };
    case 'Set':
      return { type: 'Set', element: toCedarType(shape.element) };
    case 'Record':
      return {
        type: 'Record',
        attributes: Object.fromEntries(
          Object.entries(shape.attributes).map(([name, { shape: inner, isRequired }]) => [
            name,
            { ...toCedarType(inner), required: isRequired },
          ]),
        ),
      };
    default:
      return { type: shape.kind };
  }
}

/** A value that the JSON Schema accepted, in Cedar's form; a number that Cedar would round or refuse is a problem. */
export function toCedarValue(value: JsonValue | undefined, shape: Shape, pointer = ''): Converted {
  if (value === null || value === undefined) {
    return { kind: 'absent' };
  }
  switch (shape.kind) {
    case 'Long':
      return Number.isSafeInteger(value)
        ? { kind: 'value', value: value as number }
        : refuse(pointer, 'must be an integer within ±(2^53 - 1)');
    case 'decimal':
      return convertDecimal(value, pointer);
    case 'Set':
      return convertElements(Array.isArray(value) ? value : [], shape.element, pointer);
    case 'Record':
      return convertMembers(value as JsonObject, shape, pointer);
    default:
      return { kind: 'value', value: value as string | boolean };
  }
}

function placeOf(schema: JsonValue | undefined): Place | undefined {
  if (!isJsonObject(schema) || COMBINING.some((keyword) => keyword in schema)) {
    return undefined;
  }
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const named = types.filter((type) => type !== 'null');
  const shape = named.length === 1 ? shapeOfType(named[0], schema) : undefined;
  return shape && { shape, isNullable: types.includes('null') };
}

function shapeOfType(type: JsonValue | undefined, schema: JsonObject): Shape | undefined {
  switch (type) {
    case 'string':
      return { kind: 'String' };
    case 'boolean':
      return { kind: 'Boolean' };
    case 'integer':
      return { kind: 'Long' };
    case 'number':
      return isDecimalStep(schema.multipleOf) ? { kind: 'decimal' } : undefined;
    case 'array':
      return arrayShape(schema);
    case 'object':
      return recordShape(schema);
    default:
      return undefined;
  }
}

/** Whether every multiple has at most four decimals. */
function isDecimalStep(step: JsonValue | undefined): boolean {
  return typeof step === 'number' && step > 0 && Number(step.toFixed(4)) === step;
}

function arrayShape(schema: JsonObject): Shape | undefined {
  const element = 'prefixItems' in schema ? undefined : placeOf(schema.items);
  return element && !element.isNullable ? { kind: 'Set', element: element.shape } : undefined;
}

function recordShape(schema: JsonObject): Shape | undefined {
  if (schema.additionalProperties !== false) {
    return undefined;
  }
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const attributes: RecordShape['attributes'] = {};
  for (const [name, property] of Object.entries(properties)) {
    const place = RESERVED_MEMBERS.has(name) ? undefined : placeOf(property);
    if (place !== undefined) {
      attributes[name] = { shape: place.shape, isRequired: required.includes(name) && !place.isNullable };
    }
  }
  return { kind: 'Record', attributes };
}

function convertDecimal(value: JsonValue, pointer: string): Converted {
  if (typeof value !== 'number' || Math.abs(value) > DECIMAL_MAX) {
    return refuse(pointer, `must be a number within ±${DECIMAL_MAX}`);
  }
  const text = value.toFixed(4);
  return Number(text) === value
    ? { kind: 'value', value: { __extn: { fn: 'decimal', arg: text } } }
    : refuse(pointer, 'must have at most four decimals');
}

function convertElements(elements: JsonValue[], shape: Shape, pointer: string): Converted {
  const values: CedarValueJson[] = [];
  for (const [index, element] of elements.entries()) {
    const converted = toCedarValue(element, shape, `${pointer}/${index}`);
    if (converted.kind === 'problem') return converted;
    if (converted.kind === 'value') values.push(converted.value);
  }
  return { kind: 'value', value: values };
}

function convertMembers(members: JsonObject, shape: RecordShape, pointer: string): Converted {
  const record: Record<string, CedarValueJson> = {};
  for (const name in shape.attributes) {
    const attribute = shape.attributes[name];
    if (attribute === undefined || !Object.hasOwn(members, name)) continue;
    const converted = toCedarValue(members[name], attribute.shape, `${pointer}/${name}`);
    if (converted.kind === 'problem') return converted;
    if (converted.kind === 'value') record[name] = converted.value;
  }
  return { kind: 'value', value: record };
}

function refuse(pointer: string, expected: string): Converted {
  return { kind: 'problem', problem: { pointer, expected } };
}
