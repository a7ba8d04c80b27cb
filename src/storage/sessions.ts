import { and, asc, eq, isNotNull, sql } from 'drizzle-orm';
import { SOURCE_TRUSTS, TIERS, type Tier } from '../core/action.ts';
import type {
  CallStanding,
  Pauses,
  RunStanding,
  SessionRecord,
  SessionStore,
  Writer,
} from '../core/agent_ports.ts';
import { notFound } from '../core/common_faults.ts';
import { agentPauses, sessions } from './agent_schema.ts';
import { createSharedRead } from './batcher.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { principals } from './schema.ts';
import { lockStandingKey } from './standing.ts';
import { inTransaction } from './transaction.ts';

interface RunRow {
  source_trust_rank: number | null;
  contains_sensitive_data: boolean | null;
  unattended: boolean | null;
  tier_rank: number | null;
}

interface StandingRow {
  ordinal: number;
  tier: Tier | null;
  paused: boolean;
  parent: RunRow;
  own: RunRow;
}

/** FAIL CLOSED: a rank that is none of this version's reads as the strictest. */
function toRunStanding(row: RunRow): RunStanding | null {
  if (row.source_trust_rank === null || row.tier_rank === null) return null;
  return {
    sourceTrust: SOURCE_TRUSTS[row.source_trust_rank] ?? 'untrusted',
    containsSensitiveData: row.contains_sensitive_data ?? true,
    unattended: row.unattended ?? true,
    tier: TIERS[row.tier_rank] ?? 'ask',
  };
}

function toCallStanding(row: StandingRow): CallStanding {
  return {
    sessionTier: row.tier,
    sessionPaused: row.paused,
    parentRun: toRunStanding(row.parent),
    ownRun: toRunStanding(row.own),
  };
}

/**
 * Reads what stands behind calls; those that arrive together share one statement. Of a parent run the strictest of
 * every agent's calls counts: a run that another agent began is continued on its terms. Of the call's own run what it
 * carried counts if it ever named a parent.
 */
function createReadStanding({ sql: statement }: Database): SessionStore['readStanding'] {
  const read = createSharedRead(async (keys) => {
    const requests = keys.map((key, ordinal) => {
      const [tenant, agent, session, run, parent] = JSON.parse(key) as (string | null)[];
      return { ordinal, tenant, agent, session, run, parent };
    });
    const rows = await guarded(
      async () => statement<StandingRow[]>`
        with request as (
          select * from jsonb_to_recordset(${JSON.stringify(requests)}::jsonb)
            as r(ordinal int, tenant text, agent text, session text, run text, parent text)
        )
        select r.ordinal, s.tier, s.paused_at is not null as paused, to_jsonb(p) as parent, to_jsonb(o) as own
        from request r
          left join sessions s on s.tenant_id = r.tenant and s.agent = r.agent and s.session_id = r.session
          cross join lateral (
            select max(u.source_trust_rank) as source_trust_rank, min(u.tier_rank) as tier_rank,
              bool_or(u.contains_sensitive_data) as contains_sensitive_data, bool_or(u.unattended) as unattended
            from runs u where u.tenant_id = r.tenant and u.run_id = r.parent) p
          cross join lateral (
            select max(u.source_trust_rank) as source_trust_rank, min(u.tier_rank) as tier_rank,
              bool_or(u.contains_sensitive_data) as contains_sensitive_data, bool_or(u.unattended) as unattended
            from runs u where u.tenant_id = r.tenant and u.run_id = r.run and u.agent = r.agent
              and u.has_parent) o`,
    );
    return new Map(rows.map((row) => [keys[row.ordinal] as string, toCallStanding(row)]));
  });
  return async (tenantId, agent, sessionId, { runId, parentRunId }) => {
    const standing = await read(JSON.stringify([tenantId, agent, sessionId, runId, parentRunId]));
    if (standing === undefined) throw new Error('a call without its row');
    return standing;
  };
}

function isSession(tenantId: string, agent: string, sessionId: string) {
  return and(eq(sessions.tenantId, tenantId), eq(sessions.agent, agent), eq(sessions.sessionId, sessionId));
}

async function getSession(
  executor: Executor,
  tenantId: string,
  agent: string,
  sessionId: string,
): Promise<SessionRecord> {
  const [row] = await executor
    .select({ session: sessions })
    .from(principals)
    .leftJoin(
      sessions,
      and(
        eq(sessions.tenantId, principals.tenantId),
        eq(sessions.agent, principals.principal),
        eq(sessions.sessionId, sessionId),
      ),
    )
    .where(and(eq(principals.tenantId, tenantId), eq(principals.principal, agent)));
  if (row === undefined) throw notFound();
  return {
    agent,
    sessionId,
    tier: row.session?.tier ?? null,
    rejections: row.session?.rejections ?? 0,
    pausedAt: row.session?.pausedAt ?? null,
  };
}

/** One row for an agent that is a principal, none for what is not. */
function fromPrincipal(tenantId: string, agent: string) {
  return sql`from principals p where p.tenant_id = ${tenantId} and p.principal = ${agent}`;
}

function putTier(
  database: Database,
  { tenantId, keyId }: Writer,
  agent: string,
  sessionId: string,
  tier: Tier | null,
): Promise<SessionRecord> {
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, keyId);
    await tx.execute(sql`
      insert into sessions (tenant_id, agent, session_id, tier)
      select p.tenant_id, p.principal, ${sessionId}::text, ${tier}::text ${fromPrincipal(tenantId, agent)}
      on conflict (tenant_id, agent, session_id) do update set tier = excluded.tier`);
    return getSession(tx, tenantId, agent, sessionId);
  });
}

function resumeSession(
  database: Database,
  { tenantId, keyId }: Writer,
  agent: string,
  sessionId: string,
): Promise<SessionRecord> {
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, keyId);
    await tx
      .update(sessions)
      .set({ pausedAt: null, rejections: 0 })
      .where(isSession(tenantId, agent, sessionId));
    return getSession(tx, tenantId, agent, sessionId);
  });
}

function resumeAgent(database: Database, { tenantId, keyId }: Writer, agent: string): Promise<void> {
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, keyId);
    const resumed = await tx.execute(sql`
      insert into agent_pauses (tenant_id, agent, resumed_at)
      select p.tenant_id, p.principal, clock_timestamp() ${fromPrincipal(tenantId, agent)}
      on conflict (tenant_id, agent) do update set paused_at = null, resumed_at = clock_timestamp()
      returning agent`);
    if (resumed.length === 0) throw notFound();
  });
}

async function readOwner({ db }: Database, tenantId: string, agent: string): Promise<string | null> {
  const [row] = await db
    .select({ owner: principals.owner })
    .from(principals)
    .where(and(eq(principals.tenantId, tenantId), eq(principals.principal, agent)));
  if (row === undefined) throw notFound();
  return row.owner;
}

async function isAgentPaused(
  { sql: statement }: Database,
  tenantId: string,
  agent: string,
): Promise<boolean> {
  const paused = await statement`select from agent_pauses p
    where p.tenant_id = ${tenantId} and p.agent = ${agent} and p.paused_at is not null`;
  return paused.length > 0;
}

async function listPaused({ db }: Database, tenantId: string): Promise<Pauses> {
  const [agents, ofSessions] = await Promise.all([
    db
      .select({ agent: agentPauses.agent, pausedAt: agentPauses.pausedAt })
      .from(agentPauses)
      .where(and(eq(agentPauses.tenantId, tenantId), isNotNull(agentPauses.pausedAt)))
      .orderBy(asc(agentPauses.pausedAt), asc(agentPauses.agent)),
    db
      .select()
      .from(sessions)
      .where(and(eq(sessions.tenantId, tenantId), isNotNull(sessions.pausedAt)))
      .orderBy(asc(sessions.pausedAt), asc(sessions.agent), asc(sessions.sessionId)),
  ]);
  return {
    agents: agents.flatMap(({ agent, pausedAt }) => (pausedAt === null ? [] : { agent, pausedAt })),
    sessions: ofSessions.flatMap(({ agent, sessionId, tier, rejections, pausedAt }) =>
      pausedAt === null ? [] : { agent, sessionId, tier, rejections, pausedAt },
    ),
  };
}

/** The sessions in the database; see the port. */
export function createSessionStore(database: Database): SessionStore {
  return {
    readStanding: createReadStanding(database),
    get: (...args) => guarded(() => getSession(database.db, ...args)),
    putTier: (...args) => putTier(database, ...args),
    resumeSession: (...args) => resumeSession(database, ...args),
    resumeAgent: (...args) => resumeAgent(database, ...args),
    listPaused: (tenantId) => guarded(() => listPaused(database, tenantId)),
    isAgentPaused: (tenantId, agent) => guarded(() => isAgentPaused(database, tenantId, agent)),
    readOwner: (...args) => guarded(() => readOwner(database, ...args)),
  };
}
