import { _, type Ajv2020, type CodeKeywordDefinition, type FuncKeywordDefinition } from 'ajv/dist/2020.js';
import { canonicalize } from '../core/canonical_json.ts';
import type { JsonObject, JsonValue } from '../core/json.ts';
import type { CheckBudget } from './check_budget.ts';
import { childrenOf, DEFINITIONS, isSchemaObject } from './subschemas.ts';

/** The keyword with which a schema pays for looking at a value. No schema has it: unknown keywords refuse one. */
const VISIT = 'aegis:visit';

/** Characters of a constant that compare at about the price of a visit. */
const CONSTANT_CHARACTERS = 64;

/**
 * Makes every schema in a schema pay for its visits, before it does anything else: for itself, and for what it hands
 * the same value or parts of it to. A branch that fails at once has then been paid for.
 */
export function addVisits(schema: JsonObject): JsonObject {
  if (Object.keys(schema).length === 0) return schema;
  const weighed: JsonObject = { [VISIT]: weighVisit(schema) };
  for (const [keyword, value] of Object.entries(schema)) weighed[keyword] = value;
  for (const { path, schema: child } of childrenOf(schema)) {
    if (!isSchemaObject(child)) continue;
    const [keyword, place] = path;
    if (keyword === undefined) continue;
    if (place === undefined) weighed[keyword] = addVisits(child);
    else weighed[keyword] = replaceMember(weighed[keyword] ?? null, place, addVisits(child));
  }
  return weighed;
}

/**
 * Replaces the keywords of a validator that cost more than the size of what they look at, and adds the one that
 * schemas pay with.
 */
export function useLinearKeywords(ajv: Ajv2020, budget: CheckBudget): void {
  for (const keyword of ['enum', 'uniqueItems']) ajv.removeKeyword(keyword);
  ajv.addKeyword(visitKeyword(budget));
  ajv.addKeyword(enumKeyword(budget));
  ajv.addKeyword(uniqueItemsKeyword(budget));
  // Keywords for values of any type first, of which the visit is the very first: it is paid before a text is measured.
  ajv.RULES.rules.sort((a, b) => Number(a.type !== undefined) - Number(b.type !== undefined));
}

function weighVisit(schema: JsonObject): number {
  const children = childrenOf(schema).filter(({ keyword }) => !DEFINITIONS.includes(keyword)).length;
  const dependents = isSchemaObject(schema.dependentRequired)
    ? Object.keys(schema.dependentRequired).length
    : 0;
  const constant = schema.const === undefined ? 0 : canonicalize(schema.const).length / CONSTANT_CHARACTERS;
  return 1 + children + dependents + Math.ceil(constant);
}

function replaceMember(holder: JsonValue, place: string | number, member: JsonValue): JsonValue {
  if (Array.isArray(holder)) return holder.map((item, index) => (index === place ? member : item));
  return isSchemaObject(holder) ? { ...holder, [place]: member } : holder;
}

function visitKeyword(budget: CheckBudget): CodeKeywordDefinition {
  return {
    keyword: VISIT,
    before: '$ref',
    schemaType: 'number',
    code: ({ gen, data, schema }) => {
      const visit = gen.scopeValue('func', { ref: budget.chargeVisit });
      gen.code(_`${visit}(${data}, ${Number(schema)})`);
    },
  };
}

/** One look-up, however many values there are. */
function enumKeyword(budget: CheckBudget): FuncKeywordDefinition {
  return {
    keyword: 'enum',
    schemaType: 'array',
    errors: false,
    compile: (values: JsonValue[]) => {
      const keys = new Set(values.map(keyOf));
      const hasContainers = values.some(isContainer);
      return (value: JsonValue) => {
        if (!isContainer(value)) return keys.has(keyOf(value));
        if (!hasContainers) return false;
        const key = canonicalize(value);
        budget.charge(key.length);
        return keys.has(key);
      };
    },
  };
}

/** Items in one pass, by their canonical forms. */
function uniqueItemsKeyword(budget: CheckBudget): FuncKeywordDefinition {
  return {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    error: { message: 'must not have the same item twice' },
    validate: (isWanted: boolean, items: JsonValue[]) => {
      if (!isWanted) return true;
      const seen = new Set<JsonValue>();
      for (const item of items) {
        const key = keyOf(item);
        budget.charge(typeof key === 'string' ? 1 + key.length : 1);
        if (seen.has(key)) return false;
        seen.add(key);
      }
      return true;
    },
  };
}

/** Equal for equal values and no others: a number, boolean or null is itself, anything else its text in JSON. */
function keyOf(value: JsonValue): JsonValue {
  return typeof value === 'string' || isContainer(value) ? canonicalize(value) : value;
}

function isContainer(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null;
}
