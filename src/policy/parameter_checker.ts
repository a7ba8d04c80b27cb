import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import type { JsonObject } from '../core/json.ts';
import type { ParameterProblem } from './parameter_problem.ts';

/** Finds the first place of a call's parameters that the tool's schema refuses. */
export type ParameterChecker = (parameters: JsonObject) => ParameterProblem | undefined;

const NAME_LENGTH_MAX = 64;
const POINTER_LENGTH_MAX = 256;

/**
 * A compiler of parameter schemas that are already closed. Strict: an unknown keyword or a reference to
 * somewhere else throws. Patterns run on an engine of linear time, so that no text can stop the event loop.
 * `format` is an annotation and checks nothing (JSON Schema 2020-12, validation §7.2.1).
 */
export function createSchemaCompiler(): (closedSchema: JsonObject) => ParameterChecker {
  const ajv = new Ajv2020({
    strict: true,
    // Types and required members are often said in another branch, or not at all.
    strictTypes: false,
    strictRequired: false,
    // Errors then carry the schema they come from.
    verbose: true,
    ownProperties: true,
    validateFormats: false,
    addUsedSchema: false,
    multipleOfPrecision: 9,
    code: { regExp: Object.assign(compileLinear, { code: 'compileLinear' }) },
  });
  return (closedSchema) => {
    const validate: ValidateFunction = ajv.compile(closedSchema);
    return (parameters) => {
      if (validate(parameters)) return undefined;
      const [error] = validate.errors ?? [];
      return error === undefined ? { pointer: '', expected: 'must fit the schema' } : toProblem(error);
    };
  };
}

/** Ajv tells patterns apart by `toString()`: without one of its own, each would be the first one compiled. */
function compileLinear(pattern: string): { test(text: string): boolean; toString(): string } {
  const expression = RE2JS.compile(RE2JS.translateRegExp(pattern));
  return { test: (text) => expression.test(text), toString: () => pattern };
}

/** The error without the value: only names of places, and words of the schema. */
function toProblem(error: ErrorObject): ParameterProblem {
  const { keyword, params, instancePath } = error;
  const undeclared: unknown = params.additionalProperty ?? params.unevaluatedProperty;
  if (typeof undeclared === 'string') {
    const declared = Object.keys(toRecord(error.parentSchema?.properties));
    const list =
      declared.length === 0 ? '' : `. Declared are ${declared.map((name) => `\`${name}\``).join(', ')}`;
    return { pointer: childPointer(instancePath, undeclared), expected: `is not declared${list}` };
  }
  if (keyword === 'required' && typeof params.missingProperty === 'string') {
    return { pointer: childPointer(instancePath, params.missingProperty), expected: 'is required' };
  }
  if (keyword === 'enum' && Array.isArray(params.allowedValues)) {
    const allowed = params.allowedValues.map((value: unknown) => JSON.stringify(value)).join(', ');
    return { pointer: shorten(instancePath), expected: `must be one of ${allowed}` };
  }
  return { pointer: shorten(instancePath), expected: error.message ?? 'must fit the schema' };
}

function childPointer(parent: string, name: string): string {
  const short = name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name;
  return shorten(`${parent}/${short.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

/** Names of members are the caller's words: nothing in them may hide or take over the sentence they stand in. */
function shorten(pointer: string): string {
  const cut = pointer.length > POINTER_LENGTH_MAX ? `${pointer.slice(0, POINTER_LENGTH_MAX)}…` : pointer;
  // After the cut, which may leave half of a surrogate pair; no database takes that.
  return cut.replace(/[\p{C}\p{Zl}\p{Zp}`]/gu, '\ufffd');
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
