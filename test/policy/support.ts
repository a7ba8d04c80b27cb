import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { examineCommand } from '../../src/analysis/examine_command.ts';
import type { DecisionContext } from '../../src/core/action.ts';
import { NO_EXEC_RULES } from '../../src/core/exec_approvals.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { AskStanding, Decision, DecisionRequest, PolicySet } from '../../src/core/policy.ts';
import { decideSettled, NOTHING_IN_THE_WAY } from '../../src/core/settled_decision.ts';
import { LEFT_OUT, type ToolRegistration } from '../../src/core/tool_registration.ts';
import { readPolicyFacts } from '../../src/policy/annotations.ts';
import type { CallFacts } from '../../src/policy/call_facts.ts';
import { parsePolicy } from '../../src/policy/cedar.ts';
import { findCommandFacts } from '../../src/policy/command_facts.ts';
import { selectVariant } from '../../src/policy/facts_by.ts';
import type { Operation } from '../../src/policy/operation.ts';
import { judgeParameters } from '../../src/policy/parameters.ts';
import { splitPolicyText } from '../../src/policy/policy_text.ts';
import type { LoadedPolicy } from '../../src/policy/slices.ts';

export const POLICY_DIRECTORY = join(import.meta.dirname, '../../policies');

const CONTEXT: DecisionContext = {
  source_trust: 'trusted_internal',
  contains_sensitive_data: false,
  workspace: null,
  environment: null,
  session_id: null,
  run_id: null,
  parent_run_id: null,
  unattended: false,
  tier: 'auto',
  workspace_root: null,
  justification: null,
  now: '2026-01-02T03:04:05.678Z',
};

/** A call of the agent `agent-1` from inside, with what a test says otherwise. */
export function request(
  tool: string,
  action: string,
  parameters: JsonObject,
  context: Partial<DecisionContext> = {},
): DecisionRequest {
  return {
    agent: { principal: 'agent-1', groups: ['bots'], owner: 'olga', riskTier: 'unrated' },
    toolCall: { tool, action, resource: null, mutates_state: true, parameters },
    context: { ...CONTEXT, ...context },
    paused: false,
    exec: NO_EXEC_RULES,
    isSkill: false,
  };
}

/** A call with its parameters checked, as Cedar would be asked about it. */
export function readFacts(operation: Operation, asked: DecisionRequest): CallFacts {
  const judged = judgeParameters(operation, asked.toolCall.parameters, asked.context.workspace_root);
  if (judged.kind === 'problem') throw new TypeError(`\`${judged.problem.pointer}\` does not fit`);
  const variant = selectVariant(operation.variants, asked.toolCall.parameters);
  const command =
    operation.command &&
    findCommandFacts(examineCommand(asked.toolCall.parameters, operation.command), asked.exec, asked.isSkill);
  return { request: asked, operation, variant, parameters: judged.facts, command };
}

/** Decides and, where the call is an ask, settles it. */
export function settle(
  set: PolicySet,
  asked: DecisionRequest,
  standing: AskStanding = NOTHING_IN_THE_WAY,
): Decision {
  return decideSettled(set, asked, standing);
}

/** A registered tool with what a test says of it. */
export function registration(
  tool: string,
  action: string,
  members: Partial<ToolRegistration> = {},
): ToolRegistration {
  return { ...LEFT_OUT, tool, action, mutates_state: true, ...members };
}

/** Ids of all policies of the starter set, with the file each is in. */
export function starterPolicies() {
  return readdirSync(POLICY_DIRECTORY)
    .filter((name) => name.endsWith('.cedar'))
    .flatMap((name) => splitPolicyText(readFileSync(join(POLICY_DIRECTORY, name), 'utf8'), name).policies);
}

/** A policy as a loaded set has it. */
export function loadPolicy(id: string, text: string): LoadedPolicy {
  const parsed = parsePolicy(text);
  if (parsed.kind === 'faults') throw new TypeError(`\`${text}\` does not parse`);
  return { facts: readPolicyFacts(id, parsed.value), text, json: parsed.value };
}
