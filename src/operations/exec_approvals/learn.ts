import { type Learnable, learnEntries } from '../../analysis/allowlist/learnable.ts';
import { examineCommand } from '../../analysis/examine_command.ts';
import type { Approval } from '../../core/approval.ts';
import type { ApprovalChange, LockedApproval } from '../../core/approval_ports.ts';
import { type AgentExecRules, asksOnMiss } from '../../core/exec_approvals.ts';
import { Fault } from '../../core/fault.ts';
import { isWithinScope, narrowestScope, offeredScopes } from '../../core/grant.ts';
import { parseToolCall } from '../../core/parse_tool_call.ts';
import type { VoteScope } from '../../core/policy.ts';
import type { Deps } from '../deps.ts';

/** The base policy by which a command is asked for because no allowlist covers it. */
const MISS_POLICY = 'exec-miss-asks';

function learnFrom({ reviewFacts, canonicalAction }: Approval): Learnable {
  if (reviewFacts?.command == null) return { kind: 'refused', reason: 'it is an approval of no command' };
  const { call, analysis } = examineCommand(parseToolCall(canonicalAction).parameters, reviewFacts.command);
  return learnEntries(call, analysis);
}

function learnOnMiss(approval: Approval, { tenant }: AgentExecRules): Learnable {
  if (!asksOnMiss(tenant)) {
    return { kind: 'refused', reason: 'exec approvals do not ask for this agent on a miss' };
  }
  return learnFrom(approval);
}

/** @throws Fault `invalid_request` for an allowlist scope where nothing could be added to the agent's allowlist. */
export function assertLearnable({ approval, exec }: LockedApproval, scope: VoteScope): void {
  if (scope !== 'allowlist') return;
  const learnable = learnOnMiss(approval, exec);
  if (learnable.kind === 'entries') return;
  throw new Fault('invalid_request', `nothing can be put on an allowlist by this: ${learnable.reason}`, {
    issues: [{ pointer: '/scope', reason: learnable.reason }],
  });
}

/** What a completed approval adds to the agent's allowlist: nothing unless every vote that counts says so. */
export function toAllowlist(
  deps: Deps,
  approval: Approval,
  exec: AgentExecRules,
  votes: readonly { scope: VoteScope }[],
): ApprovalChange[] {
  if (narrowestScope(votes) !== 'allowlist') return [];
  const learnable = learnOnMiss(approval, exec);
  if (learnable.kind === 'refused') return [];
  const entries = learnable.patterns.map((pattern) => ({ id: deps.newUuid(), pattern }));
  return [{ kind: 'allowlist', entries }];
}

/** The scopes that an approver of this approval may pick. */
export function offeredVoteScopes(approval: Approval): VoteScope[] {
  const scopes = offeredScopes(approval.maxScope, approval.context);
  const isMiss = approval.status === 'pending' && approval.determiningPolicies.includes(MISS_POLICY);
  if (!isMiss || !isWithinScope('allowlist', approval.maxScope)) return scopes;
  return learnFrom(approval).kind === 'entries' ? [...scopes, 'allowlist'] : scopes;
}
