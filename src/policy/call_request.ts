import { z } from 'zod';
import { type DecisionContext, SOURCE_TRUSTS, type SourceTrust, TIERS } from '../core/action.ts';
import { UNRATED } from '../core/caller.ts';
import { type ExecApprovalsDocument, resolveExecRules } from '../core/exec_approvals.ts';
import {
  findUnsafeText,
  GROUP_NAME,
  normalizeIdentifier,
  PRINCIPAL_NAME,
  PRINCIPAL_RULE,
} from '../core/identifiers.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import type { AskStanding, DecisionRequest } from '../core/policy.ts';

const identifier = z.string().check((context) => {
  const normalized = normalizeIdentifier(context.value);
  if (normalized.kind === 'normal') return;
  context.issues.push({ code: 'custom', message: normalized.reason, input: context.value });
});

const text = z
  .string()
  .min(1)
  .refine((value) => findUnsafeText(value) === undefined, 'must not have control or bidi characters');

/** A principal's name as written; policy compares it in lower case. */
export const principalName = z.string().regex(PRINCIPAL_NAME, PRINCIPAL_RULE);
export const groupNames = z.array(z.string().regex(GROUP_NAME, 'must be 1 to 64 of `A-Z a-z 0-9 . _ @ : -`'));

const toolCall = z.strictObject({
  tool: identifier,
  action: identifier,
  resource: z.string().min(1, 'must be null rather than empty').nullish(),
  mutates_state: z.boolean(),
  parameters: z.custom<JsonObject>(isJsonObject, 'must be an object'),
});

const context = z.strictObject({
  source_trust: z.enum(SOURCE_TRUSTS).optional(),
  contains_sensitive_data: z.boolean().optional(),
  workspace: text.nullish(),
  environment: text.nullish(),
  session_id: text.nullish(),
  run_id: text.nullish(),
  parent_run_id: text.nullish(),
  unattended: z.boolean().optional(),
  tier: z.enum(TIERS).nullish(),
  workspace_root: text.nullish(),
  justification: z.string().min(1).nullish(),
  now: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/, 'must be a time such as 2026-01-02T03:04:05.678Z')
    .optional(),
});

/**
 * A call as people who write policies write it down: the tool call and the context of an authorize request, and
 * beside them what the service knows itself, each of which may be left out.
 */
export const CALL_MEMBERS = {
  tool_call: toolCall,
  context: context.optional(),
  agent: principalName.optional(),
  groups: groupNames.optional(),
  owner: principalName.nullish(),
  risk_tier: text.optional(),
  paused: z.boolean().optional(),
  routable: z.boolean().optional(),
  denied_before: z.boolean().optional(),
  exec_approvals: z.custom<ExecApprovalsDocument>(isJsonObject, 'must be an object').optional(),
  skill: z.boolean().optional(),
};

const callMembers = z.strictObject(CALL_MEMBERS);
export type CallMembers = z.output<typeof callMembers>;

/** What stands for members that are left out. */
export interface CallDefaults {
  sourceTrust: SourceTrust;
  /** RFC 3339 with milliseconds. */
  now: string;
}

/** A call that was written down, with defaults for what it leaves out, as policy is asked. */
export function toDecisionRequest(
  call: CallMembers,
  defaults: CallDefaults,
): { request: DecisionRequest; standing: AskStanding } {
  const agent = (call.agent ?? 'agent-1').toLowerCase();
  return {
    request: {
      agent: {
        principal: agent,
        groups: call.groups ?? [],
        owner: call.owner?.toLowerCase() ?? null,
        riskTier: call.risk_tier ?? UNRATED,
      },
      toolCall: { ...call.tool_call, resource: call.tool_call.resource ?? null },
      context: toContext(call.context ?? {}, defaults),
      paused: call.paused ?? false,
      exec: { tenant: call.exec_approvals ? resolveExecRules(call.exec_approvals, agent) : null, node: null },
      isSkill: call.skill ?? false,
    },
    standing: { routable: call.routable ?? true, deniedBefore: call.denied_before ?? false },
  };
}

function toContext(claims: z.output<typeof context>, defaults: CallDefaults): DecisionContext {
  return {
    source_trust: claims.source_trust ?? defaults.sourceTrust,
    contains_sensitive_data: claims.contains_sensitive_data ?? false,
    workspace: claims.workspace ?? null,
    environment: claims.environment ?? null,
    session_id: claims.session_id ?? null,
    run_id: claims.run_id ?? null,
    parent_run_id: claims.parent_run_id ?? null,
    unattended: claims.unattended ?? false,
    tier: claims.tier ?? 'auto',
    workspace_root: claims.workspace_root ?? null,
    justification: claims.justification ?? null,
    now: claims.now ?? defaults.now,
  };
}
