import { and, eq, inArray, sql } from 'drizzle-orm';
import { v7 as newUuid } from 'uuid';
import type { Writer } from '../core/agent_ports.ts';
import type { Approval } from '../core/approval.ts';
import { computeDenialDigest } from '../core/denial_digest.ts';
import { parseToolCall } from '../core/parse_tool_call.ts';
import { denials, grants } from './agent_schema.ts';
import type { Executor } from './database.ts';
import { revokeGrants } from './grants.ts';

/** Rejections within a session that pause it. */
const SESSION_REJECTIONS_MAX = 3;
/** Rejections within an hour that pause the whole agent. */
const AGENT_REJECTIONS_MAX = 25;

/** The actions that a rejection is about, by digest: as it stands and, once edited, as it was asked for. */
function deniedActions(approval: Approval): { digest: string; actionHash: string }[] {
  const { tenantId, agent, resolved } = approval;
  const texts = [
    { text: approval.canonicalAction, actionHash: approval.actionHash },
    { text: approval.originalAction, actionHash: approval.originalActionHash },
  ];
  const byDigest = new Map<string, { digest: string; actionHash: string }>();
  for (const { text, actionHash } of texts) {
    const { resource, parameters } = parseToolCall(text);
    const digest = computeDenialDigest({ tenantId, agent, ...resolved, resource, parameters });
    if (!byDigest.has(digest)) byDigest.set(digest, { digest, actionHash });
  }
  return [...byDigest.values()];
}

/** Counts a rejection in the session; the count that reaches the limit pauses it, in the counting statement. */
async function countInSession(tx: Executor, { tenantId, agent }: Approval, sessionId: string): Promise<void> {
  await tx.execute(sql`
    insert into sessions as s (tenant_id, agent, session_id, rejections)
    values (${tenantId}, ${agent}, ${sessionId}, 1)
    on conflict (tenant_id, agent, session_id) do update set rejections = s.rejections + 1,
      paused_at = case when s.rejections + 1 >= ${SESSION_REJECTIONS_MAX}
        then coalesce(s.paused_at, clock_timestamp()) else s.paused_at end`);
}

/**
 * Pauses the agent when it was rejected too often within the hour. The row is taken by a statement of its own, so
 * that of rejections written at once the last one sees all before it.
 */
async function pauseAgentIfDue(tx: Executor, { tenantId, agent }: Approval): Promise<void> {
  await tx.execute(sql`
    insert into agent_pauses (tenant_id, agent) values (${tenantId}, ${agent})
    on conflict (tenant_id, agent) do update set agent = excluded.agent`);
  await tx.execute(sql`
    update agent_pauses set paused_at = clock_timestamp()
    where agent_pauses.tenant_id = ${tenantId} and agent_pauses.agent = ${agent} and agent_pauses.paused_at is null
      and ${AGENT_REJECTIONS_MAX} <= (
        select count(distinct d.approval_id) from denials d
        where d.tenant_id = ${tenantId} and d.agent = ${agent}
          and d.created_at > clock_timestamp() - interval '1 hour'
          and d.created_at > coalesce(agent_pauses.resumed_at, '-infinity'))`);
}

/**
 * Enters a person's rejection into the ledger, in the transaction that writes it and under the approval's lock:
 * what is rejected is terminal for that action. Pauses session and agent where it is one too many.
 */
export async function recordRejection(
  tx: Executor,
  rejector: Writer,
  approval: Approval,
  reason: string | null,
): Promise<void> {
  const sessionId = approval.context.session_id;
  await tx.insert(denials).values(
    deniedActions(approval).map(({ digest, actionHash }) => ({
      tenantId: approval.tenantId,
      denialId: newUuid(),
      agent: approval.agent,
      digest,
      sessionId,
      resolvedTool: approval.resolved.tool,
      resolvedAction: approval.resolved.action,
      actionHash,
      approvalId: approval.approvalId,
      deniedBy: rejector.principal,
      reason,
    })),
  );
  // What was granted of the action before ends: the later word of a person holds.
  const ofAction = inArray(grants.actionHash, [approval.actionHash, approval.originalActionHash]);
  const which = and(eq(grants.agent, approval.agent), ofAction);
  await revokeGrants(tx, approval.tenantId, which, rejector.principal);
  if (sessionId !== null) await countInSession(tx, approval, sessionId);
  await pauseAgentIfDue(tx, approval);
}
