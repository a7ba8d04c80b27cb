import * as z from 'zod';
import type { JsonObject } from '../../core/json.ts';
import type { ToolEntry } from '../../operations/rules/tool_entries.ts';
import { jsonObject, plainText } from './common.ts';
import { permission } from './rules.ts';

const NAMES_MAX = 100;
const NAME_MAX = 256;
const ALIAS_MAX = 4096;
const PATH_MAX = 1024;

const parameterName = z.string().min(1).max(NAME_MAX);
const parameterNames = z.array(parameterName).max(NAMES_MAX);

const facts = {
  mutates_state: z.boolean(),
  idempotent: z.boolean(),
  destructive: z.boolean(),
  requires_approval: z.boolean(),
};

const factsBy = z
  .strictObject({
    parameter: parameterName,
    values: z.record(z.string(), z.strictObject(facts).partial()),
  })
  .meta({ description: 'facts by the value of a parameter; a value not listed takes the strictest' });

/** A registration as an operator sends it. */
export const toolInput = z
  .strictObject({
    mutates_state: facts.mutates_state,
    idempotent: facts.idempotent.optional(),
    destructive: facts.destructive.optional(),
    requires_approval: facts.requires_approval.optional(),
    permission: permission.nullish(),
    aliases: z.array(z.string().min(1).max(ALIAS_MAX)).max(NAMES_MAX).optional().meta({
      description: 'other names, as `tool/action`',
    }),
    parameters_schema: jsonObject.nullish().meta({ description: 'JSON Schema 2020-12 of an object' }),
    facts_by: factsBy.nullish(),
    secret_parameters: parameterNames.optional(),
    path_parameters: parameterNames.optional(),
    host_parameters: parameterNames.optional(),
    workspace_root: plainText(PATH_MAX).nullish(),
    command_parameter: parameterName.nullish(),
    argv_parameter: parameterName.nullish(),
  })
  .meta({ id: 'ToolRegistration' });

/** A registration without what was left out or null: what is stored says nothing of it. */
export function toRegistration(body: z.output<typeof toolInput>): JsonObject {
  const said = Object.entries(body).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(said) as JsonObject;
}

/** A registration as answered: all of its members. */
export const toolMembers = {
  tool: z.string(),
  action: z.string(),
  base: z.boolean().meta({ description: 'whether it is of the base set' }),
  ...facts,
  permission: permission.nullable(),
  aliases: z.array(z.string()),
  parameters_schema: jsonObject.nullable(),
  facts_by: factsBy.nullable(),
  secret_parameters: z.array(z.string()),
  path_parameters: z.array(z.string()),
  host_parameters: z.array(z.string()),
  workspace_root: z.string().nullable(),
  command_parameter: z.string().nullable(),
  argv_parameter: z.string().nullable(),
};

export const toolOutput = z.strictObject(toolMembers).meta({ id: 'Tool' });

export function toWireTool({ isBase, registration }: ToolEntry): z.input<typeof toolOutput> {
  return { ...registration, base: isBase };
}
