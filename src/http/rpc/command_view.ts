import type { Approval } from '../../core/approval.ts';
import type { Caller } from '../../core/caller.ts';
import { readCommandCall } from '../../core/command_call.ts';
import { createDenial } from '../../core/denial.ts';
import { formatId } from '../../core/ids.ts';
import { toWireApproval } from '../schemas/approval.ts';

/** A person's word in the names of this protocol; null while there is none, and where it ended without one. */
type RpcDecision = 'allow_once' | 'allow_session' | 'allowlist' | 'deny' | null;

/** Where the registry did not say yet which parameters hold the command. */
const SHELL_EXEC = { parameter: 'command', argvParameter: 'argv' };

/** How far every vote of an approval lets its yes hold, in what this protocol can say. */
function toAllowed(approval: Approval): RpcDecision {
  const scopes = approval.votes.map((vote) => vote.scope);
  const isEvery = (scope: string): boolean => scopes.length > 0 && scopes.every((one) => one === scope);
  if (isEvery('session')) return 'allow_session';
  return isEvery('allowlist') ? 'allowlist' : 'allow_once';
}

function toDecision(approval: Approval): RpcDecision {
  switch (approval.status) {
    case 'approved':
    case 'consumed':
      return toAllowed(approval);
    case 'rejected':
      return 'deny';
    default:
      return null;
  }
}

/** What whoever asked is told: the decision and, of a no, the person's own words and what they mean for the model. */
export function toAskerAnswer(approval: Approval): object {
  const decision = toDecision(approval);
  return {
    id: formatId('approval', approval.approvalId),
    decision,
    status: approval.status,
    reason: approval.decisionReason,
    ...(decision === 'deny' && {
      denial: createDenial('person', approval.reason, approval.decisionReason),
    }),
    edited: approval.edits.length > 0,
    action_hash: approval.actionHash,
    expires_at_ms: approval.expiresAt.getTime(),
  };
}

/** A command that waits for a person, as this reader may see it: what REST shows of it, in this protocol's names. */
export function toPendingCommand(approval: Approval, reader: Caller): object {
  const { approval_id, scopes, resolved: _, context, ...wire } = toWireApproval(approval, reader);
  const call = readCommandCall(wire.tool_call.parameters, approval.reviewFacts?.command ?? SHELL_EXEC);
  return {
    id: approval_id,
    version: wire.version,
    agent: wire.agent,
    owner: wire.owner,
    session_key: context.session_id,
    command: call.command,
    command_argv: call.argv,
    cwd: call.cwd,
    env: call.env,
    resolved_paths: call.resolvedPaths,
    scopes,
    decisions: [
      'allow_once',
      ...(scopes.includes('session') ? ['allow_session'] : []),
      ...(scopes.includes('allowlist') ? ['allowlist'] : []),
      'deny',
    ],
    tool_call: wire.tool_call,
    action_hash: wire.action_hash,
    edited: wire.edited,
    masked: wire.masked,
    reason: wire.reason,
    justification: context.justification,
    requirements: wire.requirements,
    votes: wire.votes,
    review: wire.review,
    created_at_ms: approval.createdAt.getTime(),
    expires_at_ms: approval.expiresAt.getTime(),
  };
}

/** A command that no longer waits, for those who were told that it did. */
export function toResolvedCommand(approval: Approval): object {
  return {
    id: formatId('approval', approval.approvalId),
    decision: toDecision(approval),
    status: approval.status,
    resolved_by: approval.decidedBy,
    reason: approval.decisionReason,
    resolved_at_ms: approval.decidedAt?.getTime() ?? null,
  };
}
