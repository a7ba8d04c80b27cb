import type { JsonObject } from '../core/json.ts';
import {
  factsFor,
  factsOf,
  type RegisteredFacts,
  STRICTEST_FACTS,
  type ToolRegistration,
} from '../core/tool_registration.ts';
import { actionGroupsOf, type ToolFacts } from './tool_facts.ts';

/** What an operation is for the calls of one value of the parameter that its facts depend on. */
export interface Variant {
  /** Which policies can match these calls. */
  sliceId: string;
  /** Cedar actions that the operation is in: `invoke` and what the facts say. */
  groups: readonly string[];
  facts: ToolFacts;
}

/** An operation's facts by the value of a parameter; null where they depend on none. */
export interface Variants {
  parameter: string | null;
  byValue: ReadonlyMap<string, Variant>;
  /** Of values that are not listed, and of calls without the parameter. */
  otherwise: Variant;
}

/** The variants of a registration. Those in the same groups share a slice, whatever their other facts. */
export function buildVariants(registration: ToolRegistration, actionId: string): Variants {
  const { facts_by } = registration;
  const isCommand = registration.command_parameter !== null;
  if (facts_by === null) {
    const otherwise = buildVariant(registration, actionId, isCommand);
    return { parameter: null, byValue: new Map(), otherwise };
  }
  const variantOf = (facts: RegisteredFacts): Variant => {
    // A normal form has no percent sign but in escapes, so this is no other action's id.
    const kind = facts.destructive ? 'destroy' : facts.mutates_state ? 'write' : 'read';
    return buildVariant(facts, `${actionId}%${kind}`, isCommand);
  };
  const values = Object.keys(facts_by.values);
  return {
    parameter: facts_by.parameter,
    byValue: new Map(values.map((value) => [value, variantOf(factsFor(registration, value))])),
    otherwise: variantOf(STRICTEST_FACTS),
  };
}

/** The variant that a call's checked parameters choose. */
export function selectVariant({ parameter, byValue, otherwise }: Variants, parameters: JsonObject): Variant {
  if (parameter === null || !Object.hasOwn(parameters, parameter)) return otherwise;
  const value = parameters[parameter];
  return (typeof value === 'string' ? byValue.get(value) : undefined) ?? otherwise;
}

/** Every variant that calls of the operation can have. */
export function listVariants({ byValue, otherwise }: Variants): Variant[] {
  return [...byValue.values(), otherwise];
}

function buildVariant(registered: RegisteredFacts, sliceId: string, isCommand: boolean): Variant {
  const facts = { registered: true, ...factsOf(registered) };
  return { sliceId, groups: actionGroupsOf(facts, isCommand), facts };
}
