import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import type { JsonObject } from '../core/json.ts';
import { BudgetExceeded, type CheckBudget, createCheckBudget } from './check_budget.ts';
import { addVisits, useLinearKeywords } from './linear_keywords.ts';
import type { ParameterProblem } from './parameter_problem.ts';

/** Finds the first place of a call's parameters that the tool's schema refuses. */
export type ParameterChecker = (parameters: JsonObject) => ParameterProblem | undefined;

/** Makes a checker of a schema, or throws and says what is wrong with it. */
export type SchemaCompiler = (closedSchema: JsonObject) => ParameterChecker;

const NAME_LENGTH_MAX = 64;
const POINTER_LENGTH_MAX = 256;

/** What a check that was given up says; the value is not at fault alone, nor is the schema. */
const TOO_COSTLY: ParameterProblem = {
  pointer: '',
  expected: 'take too long to check against the schema of the tool. Send less, or simplify the schema',
};

/**
 * A compiler of parameter schemas in which `findSchemaFaults` found nothing, already closed. Strict: what it does not
 * understand throws. Patterns run on an engine of linear time and every check has a budget, so that no schema and no
 * value can stop the event loop. `format` is an annotation and checks nothing (JSON Schema 2020-12, validation §7.2.1).
 */
export function createSchemaCompiler(): SchemaCompiler {
  const budget = createCheckBudget();
  const ajv = createValidator(budget);
  return (closedSchema) => {
    const { $schema: _dialect, $id: _id, ...schema } = closedSchema;
    const validate: ValidateFunction = ajv.compile(addVisits(schema));
    return (parameters) => {
      budget.start();
      try {
        if (validate(parameters)) return undefined;
      } catch (error) {
        if (error instanceof BudgetExceeded) return TOO_COSTLY;
        throw error;
      }
      const [error] = validate.errors ?? [];
      return error === undefined ? { pointer: '', expected: 'must fit the schema' } : toProblem(error);
    };
  };
}

function createValidator(budget: CheckBudget): Ajv2020 {
  /** Ajv tells patterns apart by `toString()`: without one of its own, each would be the first one compiled. */
  const compileLinear = (pattern: string): { test(text: string): boolean; toString(): string } => {
    const expression = RE2JS.compile(RE2JS.translateRegExp(pattern));
    const instructions = expression.programSize();
    return {
      test: (text) => {
        budget.charge(instructions * (text.length + 1));
        return expression.test(text);
      },
      toString: () => pattern,
    };
  };
  const ajv = new Ajv2020({
    strict: true,
    // `findSchemaFaults` has compared it with the schema of schemas.
    meta: false,
    validateSchema: false,
    // Types and required members are often said in another branch, or not at all.
    strictTypes: false,
    strictRequired: false,
    // Errors then carry the schema they come from.
    verbose: true,
    ownProperties: true,
    validateFormats: false,
    // A schema that many refer to would be written out for each of them.
    inlineRefs: false,
    multipleOfPrecision: 9,
    code: { regExp: Object.assign(compileLinear, { code: 'compileLinear' }) },
  });
  useLinearKeywords(ajv, budget);
  return ajv;
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
  if (keyword === 'enum' && Array.isArray(error.schema)) {
    const allowed = error.schema.map((value: unknown) => JSON.stringify(value)).join(', ');
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
