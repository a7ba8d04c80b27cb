import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../../../test/support/test_service.ts';
import { Aegis, type Approval, type Fetch, type PendingApproval, PendingError } from '../src/index.ts';

/** The library and the running service together. */

let service: TestService;
let approver: Aegis;
let approver2: Aegis;
let operator: Aegis;

beforeAll(async () => {
  service = await startTestService();
  approver = clientOf(service.tokens.APPROVER);
  approver2 = clientOf(service.tokens.APPROVER2);
  operator = clientOf(service.tokens.OPERATOR);
});
afterAll(() => service.close());

interface Refund {
  amount: number;
  currency: 'usd';
}

const TRUSTED = { source_trust: 'trusted_internal' } as const;

function clientOf(key: string, fetch?: Fetch): Aegis {
  return new Aegis({ baseUrl: service.url, key, fetch, retry: { baseMs: 1, capMs: 20 } });
}

/** A guarded refund of a charge of its own, in a client of its own, and what it ran on. */
function guard(changes: { action?: string; resource?: string; fetch?: Fetch } = {}) {
  const runs: Refund[] = [];
  const aegis = clientOf(service.tokens.AGENT, changes.fetch);
  const resource = changes.resource ?? `ch_${randomUUID()}`;
  const refund = aegis.protect(
    { tool: 'stripe', action: changes.action ?? 'refund', resource, mutatesState: true, context: TRUSTED },
    (parameters: Refund) => {
      runs.push(parameters);
      return `refunded ${parameters.amount}`;
    },
  );
  return { aegis, refund, runs, resource };
}

const usd = (amount: number): Refund => ({ amount, currency: 'usd' });

/** Starts a call and gives its approval's id as soon as there is one. */
async function startCall<R>(
  call: (onPending: (pending: PendingApproval) => void) => Promise<R>,
): Promise<{ id: string; end: Promise<R | Error> }> {
  let end: Promise<R | Error> | undefined;
  const id = await new Promise<string>((resolve, reject) => {
    end = call(({ approval_id }) => resolve(approval_id)).catch((error: Error) => error);
    end.then(() => reject(new Error('the call ended without an approval')));
  });
  return { id, end: end as Promise<R | Error> };
}

/** The answer to the first request of a path is lost after the service has done what was asked. */
function losing(pathEnd: string): { fetch: Fetch; lost: () => number } {
  let lost = 0;
  return {
    lost: () => lost,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (lost === 0 && url.endsWith(pathEnd)) {
        await response.arrayBuffer();
        lost += 1;
        throw new TypeError('the connection was cut');
      }
      return response;
    },
  };
}

const read = (id: string): Promise<Approval> => approver.getApproval(id);

test('an allowed call runs without a person', async () => {
  const { refund, runs } = guard();
  expect(await refund(usd(1200))).toBe('refunded 1200');
  expect(runs).toEqual([usd(1200)]);
});

test('an approved call runs once, is consumed, and its outcome is on record', async () => {
  const { aegis, refund, runs } = guard();
  const { id, end } = await startCall((onPending) => refund(usd(9000), { onPending }));
  await approver.approve(id, { action_hash: (await read(id)).action_hash });
  expect(await end).toBe('refunded 9000');
  expect(runs).toEqual([usd(9000)]);
  expect(await read(id)).toMatchObject({
    status: 'consumed',
    outcome: { outcome: 'executed', effect: 'occurred' },
  });
  await expect(aegis.consume(id)).rejects.toMatchObject({ code: 'already_consumed' });
});

test('an argument that is mutated while a person decides does not reach the function', async () => {
  const { refund, runs } = guard();
  const live = usd(9000);
  const { id, end } = await startCall((onPending) => refund(live, { onPending }));
  live.amount = 90_000;
  await approver.approve(id);
  await end;
  expect(runs).toEqual([usd(9000)]);
});

test('an edited call runs the edited parameters, once another person has approved them', async () => {
  const { refund, runs } = guard();
  const { id, end } = await startCall((onPending) => refund(usd(9000), { onPending }));
  const { tool_call } = await read(id);
  const edit = await approver.edit(id, { tool_call: { ...tool_call, parameters: usd(6000) } });
  await expect(approver.approve(id, { action_hash: edit.action_hash })).rejects.toMatchObject({
    code: 'forbidden',
    problem: { code: 'self_approval_forbidden' },
  });
  await approver2.approve(id, {}, { ifMatchVersion: edit.version });
  expect(await end).toBe('refunded 6000');
  expect(runs).toEqual([usd(6000)]);
});

test('a call that was edited and edited back runs what it asked for', async () => {
  const { refund, runs } = guard();
  const { id, end } = await startCall((onPending) => refund(usd(9000), { onPending }));
  const { tool_call } = await read(id);
  const first = await approver.edit(id, { tool_call: { ...tool_call, parameters: usd(6000) } });
  const back = await approver.edit(id, { tool_call }, { ifMatchVersion: first.version });
  expect(back).toMatchObject({ edited: true, action_hash: back.original_action_hash });
  await approver2.approve(id, {}, { ifMatchVersion: back.version });
  expect(await end).toBe('refunded 9000');
  expect(runs).toEqual([usd(9000)]);
});

test('what was edited since it was seen is neither rejected nor cancelled', async () => {
  const { aegis, refund } = guard();
  const { id, end } = await startCall((onPending) => refund(usd(9000), { onPending }));
  const { tool_call, version } = await read(id);
  await approver.edit(id, { tool_call: { ...tool_call, parameters: usd(6000) } });
  const stale = { problem: { code: 'stale_version' } };
  await expect(approver2.reject(id, {}, { ifMatchVersion: version })).rejects.toMatchObject(stale);
  await expect(aegis.cancel(id, {}, { ifMatchVersion: version })).rejects.toMatchObject(stale);
  await aegis.cancel(id, {}, { ifMatchVersion: version + 1 });
  expect(await end).toMatchObject({ code: 'cancelled' });
});

test('where edits are refused, an edited and approved call is cancelled and does not run', async () => {
  const { refund, runs } = guard();
  const { id, end } = await startCall((onPending) => refund(usd(9000), { onPending, onEdited: 'refuse' }));
  const { tool_call } = await read(id);
  const { action_hash } = await approver.edit(id, { tool_call: { ...tool_call, parameters: usd(6000) } });
  await approver2.approve(id, { action_hash });
  expect(await end).toMatchObject({ code: 'cancelled' });
  expect(runs).toEqual([]);
  expect((await read(id)).status).toBe('cancelled');
});

test('a rejection reaches the model in the person’s own words', async () => {
  const { refund, runs } = guard();
  const { id, end } = await startCall((onPending) => refund(usd(9000), { onPending }));
  await approver.reject(id, { reason: 'the customer was paid already' });
  const error = await end;
  expect(error).toMatchObject({ code: 'rejected', reason: 'the customer was paid already' });
  expect(error).toHaveProperty('forModel', expect.stringContaining('"the customer was paid already"'));
  expect(runs).toEqual([]);
});

test('a denied call does not run', async () => {
  const { refund, runs } = guard({ action: 'unregistered' });
  await expect(refund(usd(1))).rejects.toMatchObject({ code: 'denied', reason: expect.any(String) });
  expect(runs).toEqual([]);
});

test('the lost answer of a consume is asked for again with the token, and the call runs once', async () => {
  const loss = losing('/consume');
  const { refund, runs } = guard({ fetch: loss.fetch });
  const { id, end } = await startCall((onPending) => refund(usd(9000), { onPending }));
  await approver.approve(id);
  expect(await end).toBe('refunded 9000');
  expect(loss.lost()).toBe(1);
  expect(runs).toHaveLength(1);
});

test('the lost answer of an authorize is asked for again, and makes no second approval', async () => {
  const loss = losing('/v1/authorize');
  const { refund, resource } = guard({ fetch: loss.fetch });
  await expect(refund(usd(9000), { waitMs: 0 })).rejects.toBeInstanceOf(PendingError);
  expect(loss.lost()).toBe(1);
  const asks: string[] = [];
  for await (const approval of approver.approvals({ status: 'pending', limit: 200 })) {
    if (approval.tool_call.resource === resource) {
      asks.push(approval.approval_id);
    }
  }
  expect(asks).toHaveLength(1);
});

test('the lost answer of an outcome is not an error', async () => {
  const loss = losing('/outcome');
  const { aegis, refund } = guard({ fetch: loss.fetch });
  const { id, end } = await startCall((onPending) => refund(usd(9000), { onPending }));
  await approver.approve(id);
  await end;
  await aegis.flush();
  expect(loss.lost()).toBe(1);
  expect((await read(id)).outcome).toMatchObject({ outcome: 'executed' });
});

describe('a pending call', () => {
  /** A call that nobody waited for, as its stored JSON, approved meanwhile. */
  async function leaveApproved(resource: string): Promise<PendingApproval> {
    const error = await guard({ resource })
      .refund(usd(9000), { waitMs: 0 })
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(PendingError);
    const stored: PendingApproval = JSON.parse(JSON.stringify(error));
    await approver.approve(stored.approval_id, { action_hash: stored.original_action_hash });
    return stored;
  }

  test('is taken up by another client and runs', async () => {
    const stored = await leaveApproved('ch_1');
    const { refund, runs } = guard({ resource: 'ch_1' });
    expect(await refund.resume(stored)).toBe('refunded 9000');
    expect(runs).toEqual([usd(9000)]);
  });

  test('is not taken up by another function, and stays unspent', async () => {
    const stored = await leaveApproved('ch_2');
    const { refund, runs } = guard({ resource: 'ch_other' });
    await expect(refund.resume(stored)).rejects.toMatchObject({ code: 'integrity' });
    expect(runs).toEqual([]);
    expect((await read(stored.approval_id)).status).toBe('approved');
  });

  test('is not taken up under the approval of another call, and neither is spent', async () => {
    const [small, other] = [await leaveApproved('ch_3'), await leaveApproved('ch_4')];
    const { refund, runs } = guard({ resource: 'ch_3' });
    const swapped = { ...small, approval_id: other.approval_id };
    await expect(refund.resume(swapped)).rejects.toMatchObject({ code: 'integrity' });
    expect(runs).toEqual([]);
    expect((await read(other.approval_id)).status).toBe('approved');
  });

  test('that many take up at once runs once (SINGLE CONSUME)', async () => {
    const stored = await leaveApproved('ch_5');
    const guards = Array.from({ length: 8 }, () => guard({ resource: 'ch_5' }));
    const ends = await Promise.all(
      guards.map(({ refund }) => refund.resume(stored).catch((error: { code: string }) => error.code)),
    );
    expect(ends.filter((end) => end === 'refunded 9000')).toHaveLength(1);
    expect(ends.filter((end) => end === 'already_consumed')).toHaveLength(7);
    expect(guards.flatMap(({ runs }) => runs)).toHaveLength(1);
  });

  test('of one session is not run in another, and stays unspent', async () => {
    const { refund, runs } = guard({ resource: 'ch_6' });
    const { id, end } = await startCall((onPending) =>
      refund(usd(9000), { onPending, waitMs: 0, context: { session_id: 's-1' } }),
    );
    const pending = (await end) as PendingError;
    await approver.approve(id);
    await expect(refund.resume(pending, { context: { session_id: 's-2' } })).rejects.toMatchObject({
      problem: { code: 'binding_mismatch' },
    });
    expect(runs).toEqual([]);
    expect(await refund.resume(pending, { context: { session_id: 's-1' } })).toBe('refunded 9000');
  });

  test('that is cancelled meanwhile does not run', async () => {
    const stored = await leaveApproved('ch_7');
    const { aegis, refund, runs } = guard({ resource: 'ch_7' });
    await aegis.cancel(stored.approval_id, { reason: 'not needed' });
    await expect(refund.resume(stored)).rejects.toMatchObject({ code: 'cancelled' });
    expect(runs).toEqual([]);
  });
});

test('parameters at the limits of what is taken come back and run', async () => {
  let deep: object = {};
  for (let level = 0; level < 50; level += 1) {
    deep = { inner: deep };
  }
  const aegis = clientOf(service.tokens.AGENT);
  // Unregistered, so denied; what matters is that the service computes the same hash.
  const guarded = aegis.protect({ tool: 'odd', action: 'x', mutatesState: false }, () => 1);
  const odd = {
    deep,
    numbers: [1e21, 1e-7, -0, 0.1, 5e-324, 2 ** 53],
    text: '😀\u2028\u0000"\\é',
    '\u20ac': 1,
    '😀': 2,
  };
  await expect(guarded(odd)).rejects.toMatchObject({ code: 'denied' });
});

test('keys are made, listed and revoked, and a revoked one is not accepted', async () => {
  const made = await operator.createKey({ principal: `agent-${randomUUID()}`, roles: ['agent'] });
  const fresh = clientOf(made.key);
  expect(await fresh.me()).toMatchObject({ tenant_id: 'default', roles: ['agent'], key_id: made.id });
  expect((await operator.listKeys()).items.map(({ id }) => id)).toContain(made.id);
  await operator.revokeKey(made.id, { reason: 'test' });
  await expect(fresh.me()).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('a vote is for the view that was seen', async () => {
  const { refund } = guard();
  const { id, end } = await startCall((onPending) => refund(usd(9000), { onPending }));
  const { view_hash } = (await read(id)).review;
  const other = { view_hash: view_hash.replace(/./g, '0') };
  await expect(approver.approve(id, other)).rejects.toMatchObject({ code: 'integrity' });
  await expect(approver.reject(id, other)).rejects.toMatchObject({ code: 'integrity' });
  await approver.approve(id, { view_hash });
  expect(await end).toBe('refunded 9000');
});
