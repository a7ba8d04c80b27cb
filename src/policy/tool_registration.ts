import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { formatPointer } from '../core/json_rules.ts';
import { PERMISSIONS } from '../core/policy.ts';
import type { ToolRegistration } from '../core/tool_registration.ts';

/** A place in a registration or a file as a JSON Pointer (RFC 6901), and what is wrong there. */
export interface RegistrationIssue {
  pointer: string;
  reason: string;
}

const names = z.array(z.string()).default([]);
const facts = {
  mutates_state: z.boolean(),
  idempotent: z.boolean(),
  destructive: z.boolean(),
  requires_approval: z.boolean(),
};

const OPERATION_MEMBERS = {
  mutates_state: facts.mutates_state,
  idempotent: facts.idempotent.default(false),
  destructive: facts.destructive.default(false),
  requires_approval: facts.requires_approval.default(false),
  permission: z.enum(PERMISSIONS).nullable().default(null),
  aliases: names,
  parameters_schema: z.custom<JsonObject>(isJsonObject, 'must be an object').nullable().default(null),
  facts_by: z
    .strictObject({
      parameter: z.string(),
      values: z.record(
        z.string(),
        z.strictObject({
          mutates_state: facts.mutates_state.exactOptional(),
          idempotent: facts.idempotent.exactOptional(),
          destructive: facts.destructive.exactOptional(),
          requires_approval: facts.requires_approval.exactOptional(),
        }),
      ),
    })
    .nullable()
    .default(null),
  secret_parameters: names,
  path_parameters: names,
  host_parameters: names,
  workspace_root: z.string().nullable().default(null),
  command_parameter: z.string().nullable().default(null),
  argv_parameter: z.string().nullable().default(null),
};

const registrationSchema = z.strictObject({ tool: z.string(), action: z.string(), ...OPERATION_MEMBERS });

const toolFileSchema = z.strictObject({
  tool: z.string(),
  doc: z.string().optional(),
  operations: z.record(z.string(), z.strictObject(OPERATION_MEMBERS)),
});

export type ToolFile =
  | { kind: 'tools'; tools: ToolRegistration[] }
  | { kind: 'refused'; issues: RegistrationIssue[] };

/**
 * Reads a registration: `tool`, `action` and the members of the body of `PUT /v1/tools/:tool/:action`, nothing else.
 * Members that are left out are false, empty or null; `mutates_state` is required.
 */
export function parseToolRegistration(
  value: JsonValue,
): { kind: 'tool'; tool: ToolRegistration } | { kind: 'refused'; issues: RegistrationIssue[] } {
  const parsed = registrationSchema.safeParse(value);
  return parsed.success
    ? { kind: 'tool', tool: parsed.data }
    : { kind: 'refused', issues: toIssues(parsed.error) };
}

/** Reads a file of `policies/tools`: `{tool, doc?, operations: {<action>: {mutates_state, …}}}`, nothing else in it. */
export function parseToolFile(value: JsonValue): ToolFile {
  const parsed = toolFileSchema.safeParse(value);
  if (!parsed.success) {
    return { kind: 'refused', issues: toIssues(parsed.error) };
  }
  const { tool, operations } = parsed.data;
  return {
    kind: 'tools',
    tools: Object.entries(operations).map(([action, operation]) => ({ tool, action, ...operation })),
  };
}

/** Each unknown member at its own place, as everywhere else in the service. */
function toIssues(error: z.ZodError): RegistrationIssue[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys') return [{ pointer: formatPointer(path), reason: issue.message }];
    return issue.keys.map((key) => ({ pointer: formatPointer([...path, key]), reason: 'is not known' }));
  });
}
