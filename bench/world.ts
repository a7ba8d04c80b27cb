import type postgres from 'postgres';
import { v7 as newUuid } from 'uuid';
import { POOL_MAX } from '../src/cli/service.ts';
import { formatId } from '../src/core/ids.ts';
import { openDatabase } from '../src/storage/database.ts';
import { buildRequest, HttpClient } from './http_client.ts';
import { type ServerProcess, startServerProcess } from './server_process.ts';

export const CONCURRENCY = 64;

/** An approved approval as its row has it. */
export interface Pattern {
  approvalId: string;
  tenantId: string;
  agent: string;
  keyId: string;
  policyRevision: string;
  actionHash: string;
}

/** All that the measurements share: the service, connections to it, and its database. */
export interface World {
  server: ServerProcess;
  clients: HttpClient[];
  /** As many connections as the service's own pool has. */
  sql: postgres.Sql;
  pattern: Pattern;
  /** Makes copies of one approved approval, as many as asked for; their UUIDs. */
  makeApproved(count: number): Promise<string[]>;
  close(): Promise<void>;
}

function toolCall(amount: number) {
  return {
    tool: 'stripe',
    action: 'refund',
    resource: 'ch_3Mmlq1LkdIwHu7ix0snN0B15',
    mutates_state: true,
    parameters: { amount, currency: 'usd', memo: 'the customer was charged twice for one order' },
  };
}

/** The body of an authorize call by the starter set's rules: up to 5,000 cents an allow, above an ask. */
export function authorizeBody(amount: number): string {
  return JSON.stringify({
    tool_call: toolCall(amount),
    context: { source_trust: 'trusted_internal', session_id: 'session-1', environment: 'production' },
  });
}

async function postJson(client: HttpClient, request: Buffer): Promise<Record<string, unknown>> {
  const { status, body } = await client.send(request);
  if (status !== 200) throw new Error(`answered ${status}: ${body}`);
  return JSON.parse(body) as Record<string, unknown>;
}

/** One approval, asked for and approved by the API; the pattern of all others. */
async function makePattern(server: ServerProcess, client: HttpClient, sql: postgres.Sql): Promise<Pattern> {
  const { url, tokens } = server;
  const ask = buildRequest(url, 'POST', '/v1/authorize', tokens.AGENT, authorizeBody(9000));
  const { approval } = await postJson(client, ask);
  const { approval_id: id } = approval as { approval_id: string };
  await postJson(client, buildRequest(url, 'POST', `/v1/approvals/${id}/approve`, tokens.APPROVER));
  const [pattern] = await sql<Pattern[]>`
    select a.approval_id as "approvalId", a.tenant_id as "tenantId", a.agent, d.key_id as "keyId",
           a.policy_revision as "policyRevision", a.action_hash as "actionHash"
    from approvals a join decisions d using (tenant_id, decision_id)`;
  if (pattern === undefined) throw new Error('the first approval is not in the database');
  return pattern;
}

/** Copies rows in the database: thousands of approvals by the API would take minutes. */
async function copyApproved(sql: postgres.Sql, pattern: Pattern, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newUuid());
  const copies = await sql`
    insert into approvals
    select (jsonb_populate_record(a, jsonb_build_object('approval_id', id))).*
    from approvals a, unnest(${ids}::uuid[]) as id
    where a.approval_id = ${pattern.approvalId} and a.status = 'approved'`;
  if (copies.count !== count) throw new Error('the approvals to consume could not be made');
  return ids;
}

export function approvalPath(uuid: string): string {
  return `/v1/approvals/${formatId('approval', uuid)}`;
}

/** Starts the service and connects to it. */
export async function openWorld(): Promise<World> {
  const server = await startServerProcess();
  const clients = await Promise.all(Array.from({ length: CONCURRENCY }, () => HttpClient.open(server.url)));
  const database = openDatabase({ url: server.databaseUrl, poolMax: POOL_MAX });
  const { sql } = database;
  const pattern = await makePattern(server, clients[0] as HttpClient, sql);
  return {
    server,
    clients,
    sql,
    pattern,
    makeApproved: (count) => copyApproved(sql, pattern, count),
    close: async () => {
      for (const client of clients) client.close();
      await database.close();
      await server.stop();
    },
  };
}
