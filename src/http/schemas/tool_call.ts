import * as z from 'zod';
import { TIERS, type ToolCall } from '../../core/action.ts';
import { normalizeIdentifier, RAW_IDENTIFIER_MAX } from '../../core/identifiers.ts';
import { instant, jsonObject, plainText, sessionName, sourceTrust } from './common.ts';

const RESOURCE_MAX = 4096;

/** A tool's or action's name: kept exactly as sent, refused when its normal form could not be looked up. */
const identifier = z
  .string()
  .min(1)
  .max(RAW_IDENTIFIER_MAX)
  .check((context) => {
    const normalized = normalizeIdentifier(context.value);
    if (normalized.kind === 'normal') return;
    context.issues.push({ code: 'custom', message: normalized.reason, input: context.value });
  });

/** A tool call as sent; an absent `resource` is null, as in the canonical action. */
export const toolCallInput = z
  .strictObject({
    tool: identifier,
    action: identifier,
    resource: z
      .string()
      .min(1, 'must be null rather than empty')
      .max(RESOURCE_MAX)
      .nullish()
      .transform((resource) => resource ?? null),
    mutates_state: z.boolean(),
    parameters: jsonObject,
  })
  .transform((call): ToolCall => call)
  .meta({ id: 'ToolCallInput' });

/** The frozen action: exactly what is hashed. */
export const toolCallOutput = z
  .strictObject({
    tool: z.string(),
    action: z.string(),
    resource: z.string().nullable(),
    mutates_state: z.boolean(),
    parameters: jsonObject,
  })
  .meta({ id: 'ToolCall', description: 'the frozen action: exactly the members that are hashed' });

export const tier = z.enum(TIERS);
const CONTEXT_TEXT_MAX = 256;
const JUSTIFICATION_MAX = 2000;

/** What a call says of its circumstances; not part of the hash. */
export const contextInput = z
  .strictObject({
    source_trust: sourceTrust.optional(),
    contains_sensitive_data: z.boolean().optional(),
    workspace: plainText(CONTEXT_TEXT_MAX).nullish(),
    environment: plainText(CONTEXT_TEXT_MAX).nullish(),
    session_id: sessionName(CONTEXT_TEXT_MAX).nullish(),
    run_id: plainText(CONTEXT_TEXT_MAX).nullish(),
    parent_run_id: plainText(CONTEXT_TEXT_MAX).nullish(),
    unattended: z.boolean().optional(),
    tier: tier.nullish(),
    justification: plainText(JUSTIFICATION_MAX).nullish(),
  })
  .meta({ id: 'ContextInput' });

/** The circumstances as used in the decision. */
export const contextOutput = z
  .strictObject({
    source_trust: sourceTrust,
    contains_sensitive_data: z.boolean(),
    workspace: z.string().nullable(),
    environment: z.string().nullable(),
    session_id: z.string().nullable(),
    run_id: z.string().nullable(),
    parent_run_id: z.string().nullable(),
    unattended: z.boolean(),
    tier,
    workspace_root: z.string().nullable(),
    justification: z.string().nullable(),
    now: instant,
  })
  .meta({ id: 'Context', description: 'the circumstances as used in the decision' });
