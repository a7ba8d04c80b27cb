import type { DecisionContext } from '../core/action.ts';
import { UNRATED } from '../core/caller.ts';
import { parseToolCall } from '../core/parse_tool_call.ts';
import type { Decision } from '../core/policy.ts';
import type { PastCall } from '../core/rules_ports.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import { type ExecDocument, execRulesOf, selectExecDocuments } from './exec_documents.ts';

/** Ids carry the time of the process that made them, which may differ from the database's. */
const CLOCKS_APART_MS = 3_600_000;
const HEX_DIGITS_OF_TIME = 12;

/** The least UUIDv7 (RFC 9562 §5.7) that a decision since then has: what is older is not read at all. */
function leastIdSince(since: Date): string {
  const ms = Math.max(since.getTime() - CLOCKS_APART_MS, 0);
  const time = ms.toString(16).padStart(HEX_DIGITS_OF_TIME, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

interface PastCallRow {
  kind: PastCall['kind'];
  id: string;
  canonical_action: string;
  context: DecisionContext;
  decided: Decision['decision'];
  agent: string;
  groups: string[];
  owner: string | null;
  risk_tier: string;
  skill: boolean;
}

function toPastCall(row: PastCallRow, documents: readonly ExecDocument[]): PastCall {
  return {
    kind: row.kind,
    id: row.id,
    decided: row.decided,
    request: {
      agent: { principal: row.agent, groups: row.groups, owner: row.owner, riskTier: row.risk_tier },
      toolCall: parseToolCall(row.canonical_action),
      context: row.context,
      paused: false,
      exec: execRulesOf(documents, row.agent, row.context.workspace),
      isSkill: row.skill,
    },
  };
}

/**
 * What a tenant's agents asked since a time, newest first, and the approvals that are open now. `decided` is policy's
 * own word, as other rules would give it: an ask stays one where a grant answered it, or what people did stood in its
 * way.
 */
export async function readPastCalls(
  { sql, db }: Database,
  tenantId: string,
  since: Date,
  limit: number,
): Promise<PastCall[]> {
  const [decided, open, documents] = await guarded(() =>
    Promise.all([
      sql<PastCallRow[]>`
        select 'decision' as kind, d.decision_id as id, d.canonical_action, d.context, d.agent, p.groups, p.owner,
          coalesce(p.risk_tier, ${UNRATED}) as risk_tier,
          case when d.grant_id is not null
                 or d.denial ->> 'by' in ('person', 'ledger', 'pause', 'unroutable')
               then 'require_approval' else d.decision end as decided,
          coalesce(k.skill, false) as skill
        from decisions d join principals p on p.tenant_id = d.tenant_id and p.principal = d.agent
          left join keys k on k.key_id = d.key_id
        where d.tenant_id = ${tenantId} and d.decision_id >= ${leastIdSince(since)} and d.created_at >= ${since.toISOString()}
        order by d.decision_id desc limit ${limit}`,
      sql<PastCallRow[]>`
        select 'approval' as kind, a.approval_id as id, a.canonical_action, a.context, a.agent, p.groups, p.owner,
          coalesce(p.risk_tier, ${UNRATED}) as risk_tier, 'require_approval' as decided, false as skill
        from approvals a join principals p on p.tenant_id = a.tenant_id and p.principal = a.agent
        where a.tenant_id = ${tenantId} and a.status in ('pending', 'approved')
          and a.expires_at > clock_timestamp()
        order by a.approval_id desc limit ${limit}`,
      selectExecDocuments(db, tenantId),
    ]),
  );
  return [...decided, ...open].map((row) => toPastCall(row, documents));
}
