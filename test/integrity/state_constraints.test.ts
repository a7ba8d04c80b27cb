import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, askApproved } from '../support/calls.ts';
import { uuidOf } from '../support/locks.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// PostgreSQL is the judge: a row that no arrow of the approval's life leads to is refused by the database itself.

let service: TestService;
let pending: string;
let approved: string;
let consumed: string;

beforeAll(async () => {
  service = await startTestService();
  pending = uuidOf(await ask(service.agent));
  approved = uuidOf(await askApproved(service.agent, service.approver));
  const id = await askApproved(service.agent, service.approver);
  await service.agent.post(`/v1/approvals/${id}/consume`, { consumer_token: 'a-token-of-this-call' });
  consumed = uuidOf(id);
});
afterAll(() => service.close());

const rows = { pending: () => pending, approved: () => approved, consumed: () => consumed };

/** Changes a row and takes the change back, whatever the database says to it. */
async function tryChange(approvalId: string, change: string): Promise<string | undefined> {
  const undo = new Error('undone');
  try {
    await service.sql.begin(async (sql) => {
      await sql.unsafe(`update approvals set ${change} where approval_id = '${approvalId}'`);
      throw undo;
    });
  } catch (error) {
    if (error === undo) return undefined;
    const { code, constraint_name } = error as { code: string; constraint_name?: string };
    return constraint_name ?? code;
  }
}

const DECIDED = "decided_at = now(), decided_by = 'someone'";
const UNDECIDED = 'decided_at = null, decided_by = null';
const VOIDED = "status = 'voided', voided_at = now(), void_reason = 'policy'";

describe('the database refuses', () => {
  test.each([
    ['a status that is none', 'pending', `status = 'denied', ${DECIDED}`, 'approvals_status_known'],
    ['expired as a stored status', 'pending', `status = 'expired', ${DECIDED}`, 'approvals_status_known'],
    ['no status', 'pending', 'status = null', '23502'],
    ['pending with a decision', 'pending', DECIDED, 'approvals_decided'],
    ['pending with who decided and no time', 'pending', "decided_by = 'x'", 'approvals_decided'],
    ['approved without a decision', 'pending', "status = 'approved'", 'approvals_decided'],
    ['approved without a time', 'approved', 'decided_at = null', 'approvals_decided'],
    ['approved without who decided', 'approved', 'decided_by = null', 'approvals_decided'],
    ['rejected without a decision', 'pending', "status = 'rejected'", 'approvals_decided'],
    ['cancelled without a decision', 'pending', "status = 'cancelled'", 'approvals_decided'],
    ['consumed without a decision', 'consumed', UNDECIDED, 'approvals_decided'],
    ['voided with half a decision', 'pending', `${VOIDED}, decided_by = 'x'`, 'approvals_decided'],
    ['voided without a time', 'pending', "status = 'voided', void_reason = 'policy'", 'approvals_voided'],
    ['voided without a reason', 'pending', "status = 'voided', voided_at = now()", 'approvals_voided'],
    ['a void reason on another state', 'pending', "void_reason = 'policy'", 'approvals_voided'],
    ['a voiding time on another state', 'approved', 'voided_at = now()', 'approvals_voided'],
    ['consumed without a time', 'approved', "status = 'consumed'", 'approvals_consumed_at'],
    ['a consuming time on another state', 'approved', 'consumed_at = now()', 'approvals_consumed_at'],
    ['back from consumed to approved', 'consumed', "status = 'approved'", 'approvals_consumed_at'],
    [
      'consumed after expiry',
      'consumed',
      "consumed_at = expires_at + interval '1 millisecond'",
      'approvals_consumed_in_time',
    ],
    ['a token on another state', 'approved', "consumer_token_hash = 'x'", 'approvals_token'],
    ['an outcome on another state', 'approved', `outcome = '{}'`, 'approvals_outcome'],
    ['an expiry before the asking', 'pending', 'expires_at = created_at', 'approvals_expires'],
    ['no expiry', 'pending', 'expires_at = null', '23502'],
    ['no votes needed', 'pending', 'required_votes = 0', 'approvals_votes'],
    ['more votes than policy can ask for', 'pending', 'required_votes = 11', 'approvals_votes'],
    ['version 0', 'pending', 'version = 0, votes_from_version = 0', 'approvals_version'],
    ['votes from a version to come', 'pending', 'votes_from_version = 2', 'approvals_version'],
  ] as const)('%s', async (_, row, change, refusal) => {
    expect(await tryChange(rows[row](), change)).toBe(refusal);
  });

  test('a second decision row of one id, a second vote of one approver, an approval without its decision', async () => {
    const refusal = (text: string) =>
      service.sql.unsafe(text).then(
        () => undefined,
        (error: { code: string }) => error.code,
      );
    expect(await refusal('insert into decisions select * from decisions')).toBe('23505');
    expect(await refusal('insert into votes select * from votes')).toBe('23505');
    expect(await refusal('update approvals set decision_id = gen_random_uuid()')).toBe('23503');
    expect(await refusal(`update votes set decision = 'abstain'`)).toBe('23514');
    expect(await refusal(`update decisions set decision = 'maybe'`)).toBe('23514');
    expect(await refusal(`update decisions set denial = '{}' where decision <> 'deny'`)).toBe('23514');
    expect(await refusal(`update keys set roles = '{}'`)).toBe('23514');
    expect(await refusal(`update keys set revoke_reason = 'x'`)).toBe('23514');
  });
});

describe('the database takes', () => {
  test.each([
    ['approved', 'pending', `status = 'approved', ${DECIDED}`],
    ['rejected', 'pending', `status = 'rejected', ${DECIDED}`],
    ['cancelled from pending', 'pending', `status = 'cancelled', ${DECIDED}`],
    ['cancelled from approved', 'approved', "status = 'cancelled'"],
    ['voided from pending', 'pending', VOIDED],
    ['voided from approved', 'approved', VOIDED],
    ['consumed', 'approved', "status = 'consumed', consumed_at = now(), consumer_token_hash = 'x'"],
    ['consumed at the very expiry', 'consumed', 'consumed_at = expires_at'],
    ['an outcome', 'consumed', `outcome = '{"outcome": "executed"}'`],
    ['a new version', 'pending', 'version = 2, votes_from_version = 2'],
    ['a dropped vote', 'pending', 'version = 2'],
  ] as const)('%s', async (_, row, change) => {
    expect(await tryChange(rows[row](), change)).toBeUndefined();
  });
});
