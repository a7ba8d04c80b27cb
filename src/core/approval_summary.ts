import type { Approval, ApprovalStatus } from './approval.ts';
import type { ApprovalEvent, ApprovalEventType } from './event_ports.ts';
import { formatId } from './ids.ts';
import type { Masker } from './masker.ts';
import { parseToolCall } from './parse_tool_call.ts';

/** What is told of an approval where its whole is not: nothing of its parameters; texts are masked. */
export interface ApprovalSummary {
  approval_id: string;
  version: number;
  status: ApprovalStatus;
  agent: string;
  session_id: string | null;
  run_id: string | null;
  workspace: string | null;
  environment: string | null;
  tool: string;
  action: string;
  resource: string | null;
  action_hash: string;
  reason: string;
  edited: boolean;
  votes: number;
  votes_required: number;
  groups_required: string[];
  decided_by: string | null;
  decision_reason: string | null;
  void_reason: string | null;
  created_at: string;
  expires_at: string;
}

/** An approval as it stands, in short. */
export function summariseApproval(approval: Approval, masker: Masker): ApprovalSummary {
  const { context } = approval;
  const { resource } = parseToolCall(approval.canonicalAction);
  return {
    approval_id: formatId('approval', approval.approvalId),
    version: approval.version,
    status: approval.status,
    agent: approval.agent,
    session_id: context.session_id,
    run_id: context.run_id,
    workspace: context.workspace,
    environment: context.environment,
    tool: approval.resolved.tool,
    action: approval.resolved.action,
    resource: resource === null ? null : masker.maskText(resource),
    action_hash: approval.actionHash,
    reason: approval.reason,
    edited: approval.edits.length > 0,
    votes: approval.votes.filter((vote) => vote.decision === 'approve').length,
    votes_required: approval.requirements.votes,
    groups_required: approval.requirements.groups,
    decided_by: approval.decidedBy,
    decision_reason: approval.decisionReason,
    void_reason: approval.voidReason,
    created_at: approval.createdAt.toISOString(),
    expires_at: approval.expiresAt.toISOString(),
  };
}

/** An event as every reader is told of it. */
export interface EventNews extends ApprovalSummary {
  type: ApprovalEventType;
  at: string;
}

/** What an event tells: the approval in short, with the status, the version and the hash that the event left it with. */
export function tellEvent(event: ApprovalEvent, approval: Approval, masker: Masker): EventNews {
  return {
    ...summariseApproval(approval, masker),
    type: event.type,
    version: event.version,
    status: event.status,
    action_hash: event.actionHash,
    at: event.at.toISOString(),
  };
}
