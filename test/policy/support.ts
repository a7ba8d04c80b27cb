import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DecisionContext } from '../../src/core/action.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { DecisionRequest } from '../../src/core/policy.ts';
import { splitPolicyText } from '../../src/policy/policy_text.ts';
import type { ToolRegistration } from '../../src/policy/tool_registration.ts';

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
  tier: null,
  justification: null,
};

/** A call of the agent `agent-1` from inside, with what a test says otherwise. */
export function request(
  tool: string,
  action: string,
  parameters: JsonObject,
  context: Partial<DecisionContext> = {},
): DecisionRequest {
  return {
    agent: { principal: 'agent-1', groups: ['bots'], owner: 'olga' },
    toolCall: { tool, action, resource: null, mutates_state: true, parameters },
    context: { ...CONTEXT, ...context },
    now: new Date('2026-01-02T03:04:05.678Z'),
  };
}

/** A registered tool with what a test says of it. */
export function registration(
  tool: string,
  action: string,
  members: Partial<ToolRegistration> = {},
): ToolRegistration {
  return {
    tool,
    action,
    mutates_state: true,
    idempotent: false,
    destructive: false,
    requires_approval: false,
    aliases: [],
    parameters_schema: null,
    command_parameter: null,
    argv_parameter: null,
    ...members,
  };
}

/** Ids of all policies of the starter set, with the file each is in. */
export function starterPolicies() {
  return readdirSync(POLICY_DIRECTORY)
    .filter((name) => name.endsWith('.cedar'))
    .flatMap((name) => splitPolicyText(readFileSync(join(POLICY_DIRECTORY, name), 'utf8'), name).policies);
}
