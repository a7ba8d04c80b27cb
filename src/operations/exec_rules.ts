import { judgeAllowlist } from '../analysis/allowlist/judge_allowlist.ts';
import { examineCommand } from '../analysis/examine_command.ts';
import type { Caller } from '../core/caller.ts';
import { type AgentExecRules, NO_EXEC_RULES } from '../core/exec_approvals.ts';
import type { EntryUse, SeenExecApprovals } from '../core/exec_ports.ts';
import type { AllowDecision, PolicySet } from '../core/policy.ts';
import type { Deps } from './deps.ts';
import type { FrozenCall } from './frozen_call.ts';
import { maskerOf } from './masking.ts';

/** What exec approvals say of the caller for this call, and which documents said so; of what is no command nothing. */
export async function readExecRules(
  deps: Deps,
  policy: PolicySet,
  caller: Caller,
  call: FrozenCall,
): Promise<{ rules: AgentExecRules; seen: SeenExecApprovals | null }> {
  if (!policy.isCommand(call.toolCall)) return { rules: NO_EXEC_RULES, seen: null };
  return deps.execApprovals.readRules(caller.tenantId, caller.principal, call.context.workspace);
}

/** The entries that a command which is allowed made use of. */
export function listEntryUses(
  caller: Caller,
  { toolCall }: FrozenCall,
  { reviewFacts }: AllowDecision,
  rules: AgentExecRules,
): EntryUse[] {
  if (reviewFacts.command === null) return [];
  const { call, analysis } = examineCommand(toolCall.parameters, reviewFacts.command);
  const found = (['tenant', 'node'] as const).flatMap((document) => {
    const allowlist = rules[document]?.allowlist ?? [];
    const { matched, uses } = judgeAllowlist(call, analysis, allowlist);
    return matched ? uses.map((use) => ({ ...use, document })) : [];
  });
  if (found.length === 0) return [];
  const command = maskerOf(caller).maskText(call.command);
  return found.map((use) => ({ ...use, command }));
}
