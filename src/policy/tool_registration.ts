import { z } from 'zod';
import type { JsonObject, JsonValue } from '../core/json.ts';

/**
 * One operation of a tool as an operator registers it. Members keep their wire names: the body of a
 * registration call and an operation of a file in `policies/tools` are the same object.
 */
export interface ToolRegistration {
  tool: string;
  action: string;
  mutates_state: boolean;
  idempotent: boolean;
  destructive: boolean;
  requires_approval: boolean;
  /** Other names, as `tool/action`. */
  aliases: string[];
  /** JSON Schema 2020-12 of the parameters, an object; null shows no parameter to policy and checks none. */
  parameters_schema: JsonObject | null;
  /** The string parameter that holds a command line. */
  command_parameter: string | null;
  /** The array parameter that, when given, is what runs; `command_parameter` must then be its quoted form. */
  argv_parameter: string | null;
}

const operationSchema = z.strictObject({
  mutates_state: z.boolean(),
  idempotent: z.boolean().default(false),
  destructive: z.boolean().default(false),
  requires_approval: z.boolean().default(false),
  aliases: z.array(z.string()).default([]),
  parameters_schema: z.custom<JsonObject>(isObject, 'must be an object').nullable().default(null),
  command_parameter: z.string().nullable().default(null),
  argv_parameter: z.string().nullable().default(null),
});

const toolFileSchema = z.strictObject({
  tool: z.string(),
  doc: z.string().optional(),
  operations: z.record(z.string(), operationSchema),
});

export type ToolFile =
  | { kind: 'tools'; tools: ToolRegistration[] }
  | { kind: 'refused'; issues: { pointer: string; reason: string }[] };

/** Reads a file of `policies/tools`: `{tool, doc?, operations: {<action>: {mutates_state, …}}}`, nothing else in it. */
export function parseToolFile(value: JsonValue): ToolFile {
  const parsed = toolFileSchema.safeParse(value);
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => ({
      pointer: issue.path.map((part) => `/${String(part)}`).join(''),
      reason: issue.message,
    }));
    return { kind: 'refused', issues };
  }
  const { tool, operations } = parsed.data;
  return {
    kind: 'tools',
    tools: Object.entries(operations).map(([action, operation]) => ({ tool, action, ...operation })),
  };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
