import { sha256Hex } from '../core/digest.ts';
import type { JsonObject } from '../core/json.ts';
import { createSchemaCompiler, type ParameterChecker, type SchemaCompiler } from './parameter_checker.ts';

/** Checkers kept at most; the one unused for longest makes room. */
const KEPT_MAX = 4096;

/** A validator holds all that it ever compiled, so each is used for a few schemas that are wanted together. */
const SCHEMAS_PER_VALIDATOR = 64;

const kept = new Map<string, ParameterChecker>();
let compile: SchemaCompiler = createSchemaCompiler();
let compiledByIt = 0;

/**
 * The checker of a closed schema, compiled once for all sets of this thread: revisions differ in policies far more
 * than in tools, and to compile a schema costs more than all else at the first call after an activation.
 */
export function shareChecker(closedSchema: JsonObject): ParameterChecker {
  const key = sha256Hex(JSON.stringify(closedSchema));
  const checker = kept.get(key) ?? compileNext(closedSchema);
  kept.delete(key);
  kept.set(key, checker);
  if (kept.size > KEPT_MAX) dropOldest();
  return checker;
}

function compileNext(closedSchema: JsonObject): ParameterChecker {
  if (compiledByIt === SCHEMAS_PER_VALIDATOR) {
    compile = createSchemaCompiler();
    compiledByIt = 0;
  }
  compiledByIt += 1;
  return compile(closedSchema);
}

function dropOldest(): void {
  const [oldest] = kept.keys();
  if (oldest !== undefined) kept.delete(oldest);
}
