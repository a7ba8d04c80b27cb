import * as z from 'zod';
import { formatId } from '../../core/ids.ts';
import type { Explanation } from '../../core/policy.ts';
import type { Flip } from '../../core/rules_ports.ts';
import { explain } from '../../operations/rules/explain.ts';
import { toWireProblems } from '../../operations/rules/rules_fault.ts';
import { SIMULATED_MAX, simulatePolicies } from '../../operations/rules/simulate_policies.ts';
import { validatePolicies } from '../../operations/rules/validate_policies.ts';
import { defineRoute } from '../route.ts';
import { policyIds } from '../schemas/approval.ts';
import { jsonObject, principalName, sentInstant, sha256 } from '../schemas/common.ts';
import { POLICY_BODY_BYTES_MAX, policyProblemOutput, policyText } from '../schemas/rules.ts';
import { contextInput, toolCallInput } from '../schemas/tool_call.ts';

// Trying rules out: nothing of this is stored.

const decision = z.enum(['allow', 'deny', 'require_approval']);

export const validatePoliciesRoute = defineRoute({
  operationId: 'validatePolicies',
  summary: "Check a text as the tenant's own policies",
  description: 'Against the base set and the tools that are registered. Nothing is stored.',
  method: 'post',
  path: '/v1/policies/validate',
  roles: ['operator'],
  body: z.strictObject({ text: policyText }).meta({ id: 'ValidatePoliciesRequest' }),
  bodyBytesMax: POLICY_BODY_BYTES_MAX,
  success: {
    status: 200,
    description: 'whether it would be taken, and what is wrong with it',
    schema: z
      .strictObject({ valid: z.boolean(), errors: z.array(policyProblemOutput) })
      .meta({ id: 'Validation' }),
  },
  problems: [],
  handle: async ({ deps, caller, body }) => {
    const problems = await validatePolicies(deps, caller, body.text);
    return { body: { valid: problems.length === 0, errors: toWireProblems(problems) } };
  },
});

const flipOutput = z
  .strictObject({
    kind: z.enum(['decision', 'approval']),
    id: z.string(),
    from: decision,
    to: decision,
    determining_policies: policyIds.meta({ description: 'those that decide it so' }),
  })
  .meta({ id: 'Flip' });

function toWireFlip(flip: Flip): z.input<typeof flipOutput> {
  return {
    kind: flip.kind,
    id: formatId(flip.kind, flip.id),
    from: flip.from,
    to: flip.to,
    determining_policies: flip.determiningPolicies,
  };
}

export const simulatePoliciesRoute = defineRoute({
  operationId: 'simulatePolicies',
  summary: "What a text, as the tenant's own policies, would decide of what was asked before",
  description:
    'Takes decisions `since` then (24 hours), the newest `limit` (1,000) of them, and as many open approvals. By policy alone: what a grant answered, or nobody could have approved, counts as an ask. Nothing is stored.',
  method: 'post',
  path: '/v1/policies/simulate',
  roles: ['operator'],
  body: z
    .strictObject({
      text: policyText,
      since: sentInstant.nullish(),
      limit: z.int().min(1).max(SIMULATED_MAX).nullish(),
    })
    .meta({ id: 'SimulatePoliciesRequest' }),
  bodyBytesMax: POLICY_BODY_BYTES_MAX,
  success: {
    status: 200,
    description: 'what would be decided otherwise',
    schema: z
      .strictObject({
        evaluated: z.int().min(0),
        flips: z.array(flipOutput),
        voided_approvals: z.int().min(0).meta({ description: 'open approvals that would be denied' }),
      })
      .meta({ id: 'Simulation' }),
  },
  problems: ['policy_invalid'],
  handle: async ({ deps, caller, body }) => {
    const simulation = await simulatePolicies(deps, caller, {
      text: body.text,
      since: body.since == null ? undefined : new Date(body.since),
      limit: body.limit ?? undefined,
    });
    return {
      body: {
        evaluated: simulation.evaluated,
        flips: simulation.flips.map(toWireFlip),
        voided_approvals: simulation.voidedApprovals,
      },
    };
  },
});

const contribution = z.strictObject({
  policy_id: z.string(),
  effect: z.enum(['permit', 'forbid']),
  annotations: z.record(z.string(), z.string()),
});

const explanationOutput = z
  .strictObject({
    decision,
    determining_policies: policyIds,
    contributions: z.array(contribution).meta({ description: 'the policies that apply to the call' }),
    nearly: z
      .array(contribution)
      .meta({ description: 'policies whose scope matches the call and whose conditions do not' }),
    facts: jsonObject.meta({ description: 'what Cedar was told of the call' }),
    reason: z.string(),
    policy_revision: sha256,
  })
  .meta({ id: 'Explanation' });

function toWireExplanation(explanation: Explanation): z.input<typeof explanationOutput> {
  const { decision: decided } = explanation;
  const having = (applied: boolean) =>
    explanation.contributions
      .filter((one) => one.applied === applied)
      .map(({ policyId, effect, annotations }) => ({ policy_id: policyId, effect, annotations }));
  return {
    decision: decided.decision,
    determining_policies: decided.determiningPolicies,
    contributions: having(true),
    nearly: having(false),
    facts: explanation.facts,
    reason: decided.reason,
    policy_revision: decided.policyRevision,
  };
}

export const explainRoute = defineRoute({
  operationId: 'explainDecision',
  summary: 'Why a call of an agent would be decided as it would',
  description:
    "An authorize body and the agent. The agent's groups, owner and session are those it has now, none if it is not known; the context is taken as given, no key limits it; grants are left out. Nothing is stored.",
  method: 'post',
  path: '/v1/policies/explain',
  roles: ['operator'],
  body: z
    .strictObject({
      agent: principalName,
      tool_call: toolCallInput,
      action_hash: sha256.optional(),
      context: contextInput.optional(),
      dry_run: z.boolean().optional(),
    })
    .meta({ id: 'ExplainRequest' }),
  bodyBytesMax: POLICY_BODY_BYTES_MAX,
  success: { status: 200, description: 'the decision and its reasons', schema: explanationOutput },
  problems: ['action_hash_mismatch'],
  handle: async ({ deps, caller, body }) => {
    const explanation = await explain(deps, caller, {
      agent: body.agent,
      toolCall: body.tool_call,
      actionHash: body.action_hash,
      context: body.context ?? {},
    });
    return { body: toWireExplanation(explanation) };
  },
});
