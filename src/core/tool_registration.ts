import type { JsonObject } from './json.ts';
import type { Permission } from './policy.ts';

/** What an operation does, as far as policies ask. */
export interface RegisteredFacts {
  mutates_state: boolean;
  idempotent: boolean;
  destructive: boolean;
  requires_approval: boolean;
}

/** Facts that depend on one parameter: those a value does not name are the registration's own. */
export type FactsBy = {
  parameter: string;
  values: Record<string, { [fact in keyof RegisteredFacts]?: boolean }>;
};

/**
 * One operation of a tool as an operator registers it. Members keep their wire names: the body of a
 * registration call and an operation of a file in `policies/tools` are the same object.
 */
export interface ToolRegistration extends RegisteredFacts {
  tool: string;
  action: string;
  /** An operator's explicit word; null says nothing. */
  permission: Permission | null;
  /** Other names, as `tool/action`. */
  aliases: string[];
  /** JSON Schema 2020-12 of the parameters, an object; null shows no parameter to policy and checks none. */
  parameters_schema: JsonObject | null;
  /** For a tool that does several things; a value not listed takes the strictest facts. */
  facts_by: FactsBy | null;
  /** Parameters whose values are shown to nobody but the asking agent. */
  secret_parameters: string[];
  /** String parameters that hold a path, and those that hold a host or a URL. */
  path_parameters: string[];
  host_parameters: string[];
  /** Absolute path that relative ones start from, where the key names none. */
  workspace_root: string | null;
  /** The string parameter that holds a command line. */
  command_parameter: string | null;
  /** The array parameter that, when given, is what runs; `command_parameter` must then be its quoted form. */
  argv_parameter: string | null;
}

/** What a registration has that leaves these members out. */
export const LEFT_OUT = {
  idempotent: false,
  destructive: false,
  requires_approval: false,
  permission: null,
  aliases: [],
  parameters_schema: null,
  facts_by: null,
  secret_parameters: [],
  path_parameters: [],
  host_parameters: [],
  workspace_root: null,
  command_parameter: null,
  argv_parameter: null,
} satisfies Partial<ToolRegistration>;

/** What holds of a call when nothing is known of it. */
export const STRICTEST_FACTS: RegisteredFacts = {
  mutates_state: true,
  idempotent: false,
  destructive: true,
  requires_approval: true,
};

/** A registration's own facts. */
export function factsOf(registration: RegisteredFacts): RegisteredFacts {
  const { mutates_state, idempotent, destructive, requires_approval } = registration;
  return { mutates_state, idempotent, destructive, requires_approval };
}

/** A registration's facts for a value of the parameter it says them by; its own where it says them by none. */
export function factsFor(registration: ToolRegistration, value: string): RegisteredFacts {
  const { facts_by } = registration;
  const own = factsOf(registration);
  if (facts_by === null) return own;
  return Object.hasOwn(facts_by.values, value) ? { ...own, ...facts_by.values[value] } : STRICTEST_FACTS;
}

/** What holds when both have their word. */
export function strictestOf(one: RegisteredFacts, other: RegisteredFacts): RegisteredFacts {
  return {
    mutates_state: one.mutates_state || other.mutates_state,
    idempotent: one.idempotent && other.idempotent,
    destructive: one.destructive || other.destructive,
    requires_approval: one.requires_approval || other.requires_approval,
  };
}
