import { z } from 'zod';
import { ROLES } from '../core/caller.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { formatPointer } from '../core/json_rules.ts';
import { PERMISSIONS } from '../core/policy.ts';
import type { RulesProblem, ToolPermission } from '../core/rules.ts';
import { CALL_MEMBERS, groupNames, principalName } from './call_request.ts';

/** Members of a case that say what has to come out, beside the decision. */
const requirements = z.strictObject({
  votes: z.int().min(1),
  groups: z.array(z.string()),
  signature: z.enum(['none', 'webauthn']),
});

const DENIED_BY = ['person', 'ledger', 'pause', 'unattended', 'unroutable', 'floor', 'parameters'] as const;
const SELF_APPROVAL = z.array(z.enum(['agent', 'owner', 'editor']));

const callCase = z.strictObject({
  ...CALL_MEMBERS,
  name: z.string().min(1),
  doc: z.string().optional(),
  decision: z.enum(['allow', 'deny', 'require_approval']),
  determining_policies: z.array(z.string()),
  requirements: requirements.optional(),
  ttl_seconds: z.int().nullable().optional(),
  max_scope: z.enum(['once', 'run', 'session', 'window']).optional(),
  self_approval: SELF_APPROVAL.optional(),
  denied_by: z.enum(DENIED_BY).optional(),
  twin_of: z.string().optional(),
});

const approverCase = z.strictObject({
  name: z.string().min(1),
  doc: z.string().optional(),
  action: z.enum(['approve', 'reject', 'edit', 'cancel', 'widen', 'resume']),
  approver: z.strictObject({
    principal: principalName,
    groups: groupNames.default([]),
    roles: z.array(z.enum(ROLES)),
  }),
  approval: z
    .strictObject({
      agent: principalName.optional(),
      owner: principalName.nullish(),
      editors: z.array(principalName).optional(),
      tool: z.string().optional(),
      action: z.string().optional(),
      environment: z.string().nullish(),
      required_groups: z.array(z.string()).optional(),
      self_approval: SELF_APPROVAL.optional(),
      has_own_vote: z.boolean().optional(),
      /** Of a `resume`: the session whose pause is cleared; without it the agent's. */
      session_id: z.string().nullish(),
    })
    .optional(),
  expected: z.enum(['permitted', 'self_approval_forbidden', 'approver_not_eligible', 'scope_not_allowed']),
  policy: z.string().optional(),
  twin_of: z.string().optional(),
});

const caseFile = z.strictObject({
  doc: z.string().optional(),
  tools: z.array(z.custom<JsonObject>(isJsonObject, 'must be an object')).default([]),
  permissions: z.array(z.strictObject({ pattern: z.string(), permission: z.enum(PERMISSIONS) })).default([]),
  cases: z.array(callCase).default([]),
  approver_cases: z.array(approverCase).default([]),
});

/** A call, and what policy has to decide of it. */
export type CallCase = z.output<typeof callCase>;
/** What an approver wants to do, and whether policy has to permit it. */
export type ApproverCase = z.output<typeof approverCase>;

export interface CaseFile {
  /** Registrations and permissions that only these cases have, beside those of the folder. */
  tools: JsonObject[];
  permissions: ToolPermission[];
  cases: CallCase[];
  approverCases: ApproverCase[];
}

/**
 * Reads a file of `policies/cases`: `{doc?, tools?, permissions?, cases?, approver_cases?}`, each of the last four a list,
 * and nothing else in it. Problems name `source` and the place in it.
 */
export function parseCaseFile(
  value: JsonValue,
  source: string,
): { kind: 'cases'; file: CaseFile } | { kind: 'refused'; problems: RulesProblem[] } {
  const parsed = caseFile.safeParse(value);
  if (!parsed.success) {
    return { kind: 'refused', problems: parsed.error.issues.map((issue) => toProblem(issue, source)) };
  }
  const { tools, permissions, cases, approver_cases: approverCases } = parsed.data;
  return { kind: 'cases', file: { tools, permissions, cases, approverCases } };
}

function toProblem(issue: z.core.$ZodIssue, source: string): RulesProblem {
  const pointer = formatPointer(issue.path.map(String));
  return {
    policyId: null,
    source,
    line: null,
    column: null,
    pointer,
    message: `\`${pointer}\`: ${issue.message}`,
    help: null,
  };
}
