import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ConsumedApproval, ConsumeRequest, HeldRows } from '../../src/core/approval_ports.ts';
import { approvalsSubject } from '../../src/core/asker_ports.ts';
import { consumeStatement, createConsume } from '../../src/storage/consume.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { askApproved } from '../support/calls.ts';
import { type HeldRow, holdApprovals, uuidOf } from '../support/locks.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// SINGLE CONSUME, beneath the operation: what one statement does with the requests that share it.

let service: TestService;
let database: Database;
let keyId: string;
let policyRevision: string;

beforeAll(async () => {
  service = await startTestService();
  database = openDatabase({ url: service.databaseUrl, poolMax: 4 });
  const [key] = await service.sql<{ key_id: string; active_revision: string }[]>`
    select k.key_id, t.active_revision from keys k join tenants t using (tenant_id) where principal = 'agent-1'`;
  if (key === undefined) throw new Error('the agent has no key');
  keyId = key.key_id;
  policyRevision = key.active_revision;
});
afterAll(async () => {
  await database.close();
  await service.close();
});

const newApproval = async (): Promise<string> => uuidOf(await askApproved(service.agent, service.approver));

function request(approvalId: string, more: Partial<ConsumeRequest> = {}): ConsumeRequest {
  return {
    tenantId: 'default',
    approvalId,
    agent: 'agent-1',
    keyId,
    policyRevision,
    actionHash: null,
    consumerTokenHash: null,
    binding: {},
    attemptKey: `attempt:${approvalId}`,
    attemptLimit: 5,
    ...more,
  };
}

/** The consume of a process of its own, with what it published. */
function newConsumer(heldRows: HeldRows = 'skip locked') {
  const published: string[] = [];
  const consume = createConsume(database, { publish: (subjects) => published.push(...subjects) });
  return { consume: (of: ConsumeRequest) => consume(of, heldRows), published };
}

const hasWon = (consumed: ConsumedApproval | undefined): boolean => consumed !== undefined;

async function readRow(approvalId: string): Promise<{ status: string; token: string | null }> {
  const [row] = await service.sql<{ status: string; token: string | null }[]>`
    select status, consumer_token_hash as token from approvals where approval_id = ${approvalId}`;
  if (row === undefined) throw new Error('the approval is not there');
  return row;
}

describe('of several requests for one approval', () => {
  test.each(['wait', 'skip locked'] as const)(
    'in one statement (%s) one is answered, whose token is kept',
    async (mode) => {
      const approvalId = await newApproval();
      const requests = Array.from({ length: 12 }, (_, index) =>
        request(approvalId, { consumerTokenHash: `token-${index}` }),
      );
      const rows = await consumeStatement(database.sql, requests, mode);
      expect(rows).toHaveLength(1);
      expect(await readRow(approvalId)).toStrictEqual({
        status: 'consumed',
        token: `token-${rows[0]?.ordinal}`,
      });
    },
  );

  test("that arrive together at one process, only the returned row's own is told it won", async () => {
    const approvalId = await newApproval();
    const { consume, published } = newConsumer();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        consume(request(approvalId, { consumerTokenHash: `token-${index}` })),
      ),
    );
    expect(answers.filter(hasWon)).toHaveLength(1);
    expect((await readRow(approvalId)).token).toBe(`token-${answers.findIndex(hasWon)}`);
    expect(published).toStrictEqual([approvalId, approvalsSubject('default')]);
  });

  test('with wrong and right hashes in one statement, the right one wins wherever it stands', async () => {
    const approvalId = await newApproval();
    const [row] = await service.sql<{ action_hash: string }[]>`
      select action_hash from approvals where approval_id = ${approvalId}`;
    const wrong = request(approvalId, { actionHash: '0'.repeat(64), consumerTokenHash: 'wrong' });
    const right = request(approvalId, { actionHash: row?.action_hash ?? '', consumerTokenHash: 'right' });
    const rows = await consumeStatement(database.sql, [wrong, wrong, right, wrong], 'skip locked');
    expect(rows.map(({ ordinal }) => ordinal)).toStrictEqual([2]);
    expect((await readRow(approvalId)).token).toBe('right');
  });
});

test('a batch consumes each approval for its own request, and answers it with its own action', async () => {
  const approvalIds = await Promise.all([newApproval(), newApproval(), newApproval()]);
  const { consume } = newConsumer();
  const answers = await Promise.all(approvalIds.map((approvalId) => consume(request(approvalId))));
  for (const [index, approvalId] of approvalIds.entries()) {
    const [row] = await service.sql<{ canonical_action: string }[]>`
      select canonical_action from approvals where approval_id = ${approvalId}`;
    expect(answers[index]?.canonicalAction).toBe(row?.canonical_action);
  }
});

test.each([
  ["another tenant's", { tenantId: 'other' }],
  ["another agent's", { agent: 'agent-2' }],
  ['under a key of another principal', { keyId: '00000000-0000-7000-8000-000000000000' }],
  ['under another revision', { policyRevision: 'f'.repeat(64) }],
  ['with another hash', { actionHash: '0'.repeat(64) }],
  ['with another workspace', { binding: { workspace: 'repo:other' } }],
  ['with another session', { binding: { session_id: 's-9' } }],
  ['whose attempts are used up', { attemptLimit: 0 }],
] satisfies [string, Partial<ConsumeRequest>][])(
  'a request %s is not consumed, in either mode',
  async (_, more) => {
    const approvalId = await newApproval();
    await service.sql`
    insert into rate_limits (key, points, expire)
    values (${`attempt:${approvalId}`}, 0, clock_timestamp() + interval '1 hour')`;
    for (const mode of ['skip locked', 'wait'] as const) {
      expect(await consumeStatement(database.sql, [request(approvalId, more)], mode)).toHaveLength(0);
    }
    expect((await readRow(approvalId)).status).toBe('approved');
  },
);

describe('a batch member that fails', () => {
  afterEach(() => service.sql`drop trigger if exists broken on approvals`);

  test('fails its own request alone', async () => {
    const approvalIds = await Promise.all([newApproval(), newApproval(), newApproval()]);
    const [, broken] = approvalIds;
    await service.sql.unsafe(`
      create or replace function refuse_row() returns trigger language plpgsql as
        $$ begin raise exception 'a broken row'; end $$;
      create trigger broken before update on approvals for each row
        when (new.approval_id = '${broken}') execute function refuse_row()`);
    const { consume } = newConsumer();
    const settled = await Promise.allSettled(approvalIds.map((approvalId) => consume(request(approvalId))));
    expect(settled.map(({ status }) => status)).toStrictEqual(['fulfilled', 'rejected', 'fulfilled']);
    const rows = await Promise.all(approvalIds.map(readRow));
    expect(rows.map(({ status }) => status)).toStrictEqual(['consumed', 'approved', 'consumed']);
  });

  test('by a value that the statement cannot take fails its own request alone', async () => {
    const approvalIds = await Promise.all([newApproval(), newApproval(), newApproval()]);
    const { consume } = newConsumer();
    const settled = await Promise.allSettled(
      approvalIds.map((approvalId, index) =>
        consume(request(approvalId, index === 0 ? { consumerTokenHash: 'a\u0000b' } : {})),
      ),
    );
    expect(settled.map(({ status }) => status)).toStrictEqual(['rejected', 'fulfilled', 'fulfilled']);
  });
});

describe('an approval whose row somebody holds', () => {
  let held: HeldRow;
  afterEach(() => held.release());

  test('is left alone by a batch, whose other requests go on', async () => {
    const slow = await newApproval();
    const others = await Promise.all([newApproval(), newApproval()]);
    held = await holdApprovals(service.sql, `apr_${slow}`);
    const { consume } = newConsumer();
    const answers = await Promise.all([slow, ...others].map((approvalId) => consume(request(approvalId))));
    expect(answers.map(hasWon)).toStrictEqual([false, true, true]);
    expect((await readRow(slow)).status).toBe('approved');
  });

  test('holds up nobody else when as many wait for it as there are connections', async () => {
    const slow = await newApproval();
    const other = await newApproval();
    held = await holdApprovals(service.sql, `apr_${slow}`);
    const { consume } = newConsumer('wait');
    const waiting = Array.from({ length: 16 }, () => consume(request(slow)));
    expect(hasWon(await consume(request(other)))).toBe(true);
    expect((await readRow(slow)).status).toBe('approved');
    await held.release();
    expect((await Promise.all(waiting)).filter(hasWon)).toHaveLength(1);
  });
});
