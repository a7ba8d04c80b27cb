import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api_client.ts';
import { ask, askApproved, refund } from '../support/calls.ts';
import { uuidOf } from '../support/locks.ts';
import { copyPolicies, type PolicyFolder } from '../support/policies.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// NO SILENT DRIFT: what was decided under other rules is examined anew before it is used, and the record says so.

const LARGE_ASK = '@id("stripe-refund-large-needs-approval")\n@decision("require_approval")\n';

/** Sets of rules that follow the starter set, by what becomes of an ask for 9,000 cents. */
const FOLLOWING = {
  'still asks': copyPolicies('stripe.cedar', { 'more than 5000 cents needs': 'over 5000 cents needs' }),
  allows: copyPolicies('stripe.cedar', {
    'amount <= 5000': 'amount <= 50000',
    'amount > 5000': 'amount > 50000',
  }),
  denies: copyPolicies('stripe.cedar', {
    'amount > 5000 }': 'amount > 5000 && context.parameters.amount < 6000 }',
  }),
  'asks one of all': copyPolicies('stripe.cedar', { '@votes("2")\n@groups("finance,security")\n': '' }),
  'asks two': copyPolicies('stripe.cedar', { [LARGE_ASK]: `${LARGE_ASK}@votes("2")\n` }),
  'asks security': copyPolicies('stripe.cedar', { [LARGE_ASK]: `${LARGE_ASK}@groups("security")\n` }),
  'asks for a second': copyPolicies('stripe.cedar', { [LARGE_ASK]: `${LARGE_ASK}@ttl_seconds("1")\n` }),
} satisfies Record<string, PolicyFolder>;

let first: TestService;
let starterRevision: string;
/** Services on the same database by their rules, each started once, and the revisions of their rules. */
const others = new Map<string, TestService>();
const revisions = new Map<string, string>();

const readActive = async (service: TestService): Promise<string> =>
  (await service.anonymous.get('/readyz')).body.policy_revision;

beforeAll(async () => {
  first = await startTestService();
  starterRevision = await readActive(first);
});
afterAll(async () => {
  for (const service of others.values()) await service.close();
  await first.close();
  for (const folder of Object.values(FOLLOWING)) folder.remove();
});

/** With its base, or the services would bring the tenant up to that of whichever started last. */
const activate = (revision: string) => first.sql`
  with pointed as (update tenants set active_revision = ${revision})
  update base_rules set activated_at = clock_timestamp()
  where digest = (select base_digest from revisions where revision = ${revision})`;

/** What is asked for in a test is asked for under the starter set. */
beforeEach(() => activate(starterRevision));

/** Goes on with other rules, as a restart on the same database does. */
async function restartWith(
  rules: keyof typeof FOLLOWING,
  drift: 'revalidate' | 'strict' = 'revalidate',
): Promise<TestService> {
  const name = `${rules}, ${drift}`;
  const service =
    others.get(name) ??
    (await startTestService({
      databaseUrl: first.databaseUrl,
      env: { AEGIS_POLICY_DIR: FOLLOWING[rules].path, AEGIS_POLICY_DRIFT: drift },
    }));
  others.set(name, service);
  // The first start with these rules has activated them; a later one meets them as some of many that were.
  const revision = revisions.get(rules) ?? (await readActive(service));
  revisions.set(rules, revision);
  await activate(revision);
  return service;
}

const agent = (service: TestService) => service.as(first.tokens.AGENT);
const approver = (service: TestService) => service.as(first.tokens.APPROVER);
const consume = (service: TestService, id: string): Promise<ApiAnswer> =>
  agent(service).post(`/v1/approvals/${id}/consume`);
const read = async (service: TestService, id: string) =>
  (await agent(service).get(`/v1/approvals/${id}`)).body;

async function readRevisions(id: string): Promise<string[]> {
  const [row] = await first.sql<{ policy_revisions: string[] }[]>`
    select policy_revisions from approvals where approval_id = ${uuidOf(id)}`;
  return row?.policy_revisions ?? [];
}

const CHANGED = { status: 409, body: { code: 'policy_changed', void_reason: 'policy' } };
const VOIDED = { status: 409, body: { code: 'approval_voided', void_reason: 'policy' } };

describe('an approved approval under other rules', () => {
  test.each(['still asks', 'allows'] as const)(
    'is consumed when they %s, and names both revisions',
    async (rules) => {
      const id = await askApproved(first.agent, first.approver);
      const before = await read(first, id);
      const service = await restartWith(rules);
      const { body } = await consume(service, id);
      expect(body).toMatchObject({ status: 'consumed', action_hash: before.action_hash, replayed: false });
      const after = await read(service, id);
      expect(after.policy_revision).not.toBe(before.policy_revision);
      expect(await readRevisions(id)).toStrictEqual([before.policy_revision, after.policy_revision]);
    },
  );

  test.each(['denies', 'asks two', 'asks security'] as const)(
    'is voided when they say: %s',
    async (rules) => {
      const id = await askApproved(first.agent, first.approver);
      const service = await restartWith(rules);
      expect(await consume(service, id)).toMatchObject(CHANGED);
      expect(await consume(service, id)).toMatchObject(VOIDED);
      expect(await read(service, id)).toMatchObject({ status: 'voided', void_reason: 'policy' });
    },
  );

  test('is voided when its age is beyond their ttl', async () => {
    const id = await askApproved(first.agent, first.approver);
    await first.sql`
      update approvals set created_at = created_at - interval '2 seconds' where approval_id = ${uuidOf(id)}`;
    const service = await restartWith('asks for a second');
    expect(await consume(service, id)).toMatchObject(CHANGED);
  });

  test('is voided under any other rules when drift is strict', async () => {
    const id = await askApproved(first.agent, first.approver);
    const service = await restartWith('still asks', 'strict');
    expect(await consume(service, id)).toMatchObject(CHANGED);
    expect(await consume(service, id)).toMatchObject(VOIDED);
  });

  test('is not spent, nor brought up to date, by a wrong hash', async () => {
    const id = await askApproved(first.agent, first.approver);
    const service = await restartWith('still asks');
    const wrong = await agent(service).post(`/v1/approvals/${id}/consume`, { action_hash: '0'.repeat(64) });
    expect(wrong.body.code).toBe('action_hash_mismatch');
    expect(await readRevisions(id)).toHaveLength(1);
    expect((await consume(service, id)).status).toBe(200);
  });

  test('is consumed once by concurrent consumes that each find the drift', async () => {
    const id = await askApproved(first.agent, first.approver);
    const service = await restartWith('still asks');
    const answers = await Promise.all(Array.from({ length: 12 }, () => consume(service, id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === 'approval_already_consumed')).toHaveLength(11);
  });
});

describe('a pending approval under other rules', () => {
  test('is approved on their requirements', async () => {
    const id = await ask(first.agent);
    const service = await restartWith('asks two');
    const one = await approver(service).post(`/v1/approvals/${id}/approve`);
    expect(one.body).toMatchObject({ status: 'pending', requirements: { votes: 2 } });
    const two = await service.as(first.tokens.APPROVER2).post(`/v1/approvals/${id}/approve`);
    expect(two.body.status).toBe('approved');
    expect((await consume(service, id)).status).toBe(200);
    expect(await readRevisions(id)).toHaveLength(2);
  });

  test('counts the votes it has already on their requirements', async () => {
    const id = await ask(first.agent, refund(200_000));
    await approver(first).post(`/v1/approvals/${id}/approve`);
    const service = await restartWith('still asks');
    const done = await service.as(first.tokens.APPROVER2).post(`/v1/approvals/${id}/approve`);
    expect(done.body).toMatchObject({
      status: 'approved',
      requirements: { groups: ['finance', 'security'] },
    });
  });

  test('refuses who has no place under them, and stays as it was', async () => {
    const id = await ask(first.agent);
    const service = await restartWith('asks security');
    const refused = await approver(service).post(`/v1/approvals/${id}/approve`);
    expect(refused).toMatchObject({ status: 403, body: { code: 'approver_not_eligible' } });
    expect(await readRevisions(id)).toHaveLength(1);
  });

  test('is voided by the vote that finds them to deny it', async () => {
    const id = await ask(first.agent);
    const service = await restartWith('denies');
    expect(await approver(service).post(`/v1/approvals/${id}/approve`)).toMatchObject(CHANGED);
    expect(await approver(service).post(`/v1/approvals/${id}/approve`)).toMatchObject(VOIDED);
  });

  test('is rejected and cancelled under any rules', async () => {
    const [toReject, toCancel] = [await ask(first.agent), await ask(first.agent)];
    const service = await restartWith('denies', 'strict');
    const rejected = await approver(service).post(`/v1/approvals/${toReject}/reject`);
    expect(rejected.body.status).toBe('rejected');
    const cancelled = await agent(service).post(`/v1/approvals/${toCancel}/cancel`);
    expect(cancelled.body.status).toBe('cancelled');
  });
});

describe('a pending approval whose new rules ask for fewer votes than were cast', () => {
  const voteOnce = async (): Promise<string> => {
    const id = await ask(first.agent, refund(200_000));
    expect((await first.approver.post(`/v1/approvals/${id}/approve`)).body.status).toBe('pending');
    return id;
  };

  test("is completed by the next approver's vote", async () => {
    const id = await voteOnce();
    const after = await restartWith('asks one of all');
    const approved = await after.as(first.tokens.APPROVER2).post(`/v1/approvals/${id}/approve`);
    expect(approved.body).toMatchObject({ status: 'approved', requirements: { votes: 1, groups: [] } });
  });

  test('or by whoever voted already', async () => {
    const id = await voteOnce();
    const after = await restartWith('asks one of all');
    const approved = await approver(after).post(`/v1/approvals/${id}/approve`);
    expect(approved.body).toMatchObject({ status: 'approved', votes: [{ approver: 'approver-1' }] });
  });
});
