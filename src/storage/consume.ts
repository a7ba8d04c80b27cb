import type postgres from 'postgres';
import type { ApprovalStore, ConsumedApproval, ConsumeRequest, HeldRows } from '../core/approval_ports.ts';
import { subjectsOf } from '../core/asker_ports.ts';
import { createBatcher } from './batcher.ts';
import type { Database } from './database.ts';
import { guarded, startDeadline } from './database_errors.ts';
import type { SignalPublisher } from './signals.ts';

type Answer = ConsumedApproval | undefined;

const BATCH_MAX = 128;

interface ConsumedRow {
  ordinal: number;
  action_hash: string;
  canonical_action: string;
  consumed_at: string;
}

function toJsonRow(request: ConsumeRequest, ordinal: number): Record<string, unknown> {
  return {
    ordinal,
    tenant: request.tenantId,
    approval: request.approvalId,
    caller: request.agent,
    key: request.keyId,
    revision: request.policyRevision,
    hash: request.actionHash,
    token: request.consumerTokenHash,
    binding: request.binding,
    attempt_key: request.attemptKey,
    attempt_limit: request.attemptLimit,
  };
}

/**
 * SINGLE CONSUME. Takes the keys, then the approvals, then tests every condition on the rows as locked, at the
 * clock's now: a consume that waited for a lock past the expiry is refused.
 *
 * `skip locked` leaves a row that somebody else holds alone, so that one slow row does not hold up a batch; such a
 * statement never waits, and the key's standing and the active revision are as fresh as the statement. `wait` waits
 * for the rows, and therefore holds key and revision as well: either might move while it waits.
 */
export async function consumeStatement(
  sql: postgres.Sql,
  requests: ConsumeRequest[],
  heldRows: HeldRows,
): Promise<ConsumedRow[]> {
  const waits = heldRows === 'wait';
  const holdKeys = waits ? sql`for share of k` : sql``;
  const holdTenants = waits ? sql`for share of t` : sql``;
  const skip = waits ? sql`` : sql`skip locked`;
  return sql<ConsumedRow[]>`
    with request as (
      select * from jsonb_to_recordset(${JSON.stringify(requests.map(toJsonRow))}::jsonb) as r(
        ordinal int, tenant text, approval uuid, caller text, key uuid, revision text, hash text, token text,
        binding jsonb, attempt_key text, attempt_limit int)
    ), standing as materialized (
      select k.key_id, k.tenant_id, k.principal from keys k
      where k.key_id in (select key from request) and k.revoked_at is null and k.frozen_at is null
        and k.disabled_at is null
        and (k.expires_at is null or k.expires_at > clock_timestamp())
      order by k.key_id ${holdKeys}
    ), tenant as materialized (
      select t.tenant_id, t.active_revision from tenants t
      where t.tenant_id in (select tenant_id from standing)
      order by t.tenant_id ${holdTenants}
    ), locked as materialized (
      select a.tenant_id, a.approval_id, a.status, a.expires_at, a.agent, a.action_hash, a.policy_revision,
             a.context, jsonb_array_length(a.edits) > 0 as edited, r.*
      from request r
        join standing s on s.key_id = r.key and s.tenant_id = r.tenant and s.principal = r.caller
        join tenant t on t.tenant_id = r.tenant and t.active_revision = r.revision
        join approvals a on a.tenant_id = r.tenant and a.approval_id = r.approval
      order by a.approval_id for update of a ${skip}
    ), judged as materialized (
      select l.* from locked l
      where l.status = 'approved' and l.expires_at > clock_timestamp() and l.agent = l.caller
        and l.policy_revision = l.revision
        and (l.hash = l.action_hash or (l.hash is null and not l.edited))
        and not exists (
          select from jsonb_each_text(l.binding) b where b.value is distinct from l.context ->> b.key)
        and not exists (
          select from rate_limits f
          where f.key = l.attempt_key and f.points >= l.attempt_limit and f.expire > clock_timestamp())
    )
    update approvals a
    set status = 'consumed', consumed_at = least(clock_timestamp(), a.expires_at), consumer_token_hash = j.token
    from judged j
    where a.tenant_id = j.tenant_id and a.approval_id = j.approval_id
      and a.status = 'approved' and a.expires_at > clock_timestamp()
    returning j.ordinal, a.action_hash, a.canonical_action, a.consumed_at`;
}

function toConsumed(row: ConsumedRow): ConsumedApproval {
  return {
    actionHash: row.action_hash,
    canonicalAction: row.canonical_action,
    consumedAt: new Date(row.consumed_at),
  };
}

/** How many approvals that were spent here are remembered. */
const SPENT_MAX = 1000;

/**
 * The approvals that this process spent last. Consumed is an end state, so what stands here is never wrong: who
 * still comes for one need not try, and reads why.
 */
function createSpentMemory() {
  const spent = new Set<string>();
  return {
    has: (subject: string): boolean => spent.has(subject),
    add: (subject: string): void => {
      spent.add(subject);
      const [oldest] = spent;
      if (spent.size > SPENT_MAX && oldest !== undefined) spent.delete(oldest);
    },
  };
}

/**
 * Runs what concerns one approval one after the other, so that a batch holds at most one request an approval, and a
 * row held elsewhere takes one connection.
 */
function createLines() {
  const lasts = new Map<string, Promise<unknown>>();
  return (subject: string, attempt: () => Promise<Answer>): Promise<Answer> => {
    const before = lasts.get(subject);
    const turn = before === undefined ? attempt() : before.then(attempt, attempt);
    lasts.set(subject, turn);
    const leave = (): void => {
      if (lasts.get(subject) === turn) lasts.delete(subject);
    };
    turn.then(leave, leave);
    return turn;
  };
}

/** Consumes approvals; those that arrive together in one statement, at most one request an approval. */
export function createConsume(database: Database, publisher: SignalPublisher): ApprovalStore['consume'] {
  const { sql } = database;
  const inLine = createLines();
  const spent = createSpentMemory();
  const send = async (requests: ConsumeRequest[], heldRows: HeldRows): Promise<Answer[]> => {
    const rows = await guarded(() => consumeStatement(sql, requests, heldRows));
    const answers: Answer[] = requests.map(() => undefined);
    for (const row of rows) answers[row.ordinal] = toConsumed(row);
    return answers;
  };
  const consumeTogether = createBatcher({
    send: (requests: ConsumeRequest[]) => send(requests, 'skip locked'),
    batchMax: BATCH_MAX,
    inFlightMax: 2,
  });
  const consumeAlone = async (request: ConsumeRequest): Promise<Answer> => (await send([request], 'wait'))[0];

  return (request, heldRows) => {
    const subject = `${request.tenantId}/${request.approvalId}`;
    const consume = heldRows === 'wait' ? consumeAlone : consumeTogether;
    const deadline = startDeadline();
    const attempt = async (): Promise<Answer> => {
      if (spent.has(subject)) return undefined;
      // The line may have been long; whoever left it is not to be served any more.
      deadline.assertInTime();
      const consumed = await consume(request);
      if (consumed === undefined) return undefined;
      spent.add(subject);
      publisher.publish(subjectsOf(request.tenantId, [request.approvalId]));
      return consumed;
    };
    return guarded(() => inLine(subject, attempt));
  };
}
