import { afterEach, describe, expect, test } from 'vitest';
import { computeActionHash } from '../../../src/core/action_hash.ts';
import { AegisError, type PendingApproval, PendingError, type Run, type ToolCall } from '../src/index.ts';
import {
  type Answer,
  APPROVAL_ID,
  authorizeAnswer,
  clientOf,
  consumeAnswer,
  edited,
  type Peer,
  problem,
  startPeer,
} from './peer.ts';

let peer: Peer;
afterEach(() => peer.close());

interface Refund {
  charge: string;
  amount: number;
}

/** A guarded refund and what its function was called with. */
async function guard(answer?: Answer, options: Parameters<typeof clientOf>[1] = {}) {
  peer = await startPeer(answer);
  const runs: { parameters: Refund; run: Run }[] = [];
  const aegis = clientOf(peer, options);
  const refund = aegis.protect(
    {
      tool: 'stripe',
      action: 'refund',
      resource: ({ charge }: Refund) => charge,
      mutatesState: true,
      context: { session_id: 's-1', environment: 'production' },
    },
    (parameters, run) => {
      runs.push({ parameters, run });
      return `refunded ${parameters.amount}`;
    },
  );
  return { aegis, refund, runs };
}

const asked: ToolCall = {
  tool: 'stripe',
  action: 'refund',
  resource: 'ch_1',
  mutates_state: true,
  parameters: { amount: 9000, charge: 'ch_1' },
};
const call = (): Refund => ({ charge: 'ch_1', amount: 9000 });
const allow: Answer = ({ path }, self) =>
  path === '/v1/authorize'
    ? { body: authorizeAnswer(self, { decision: 'allow', approval: null }) }
    : undefined;
const withApproval =
  (changes: Record<string, unknown>): Answer =>
  ({ method }, self) =>
    method === 'GET' ? { body: self.approval(changes) } : undefined;

test('an allowed call runs without an approval', async () => {
  const { refund, runs } = await guard(allow);
  expect(await refund(call())).toBe('refunded 9000');
  expect(runs).toEqual([
    {
      parameters: call(),
      run: {
        runId: 'dec_1',
        decisionId: 'dec_1',
        approvalId: null,
        actionHash: computeActionHash(asked),
        edited: false,
        signal: undefined,
        setOutcome: expect.any(Function),
      },
    },
  ]);
  expect(peer.received.map(({ path }) => path)).toEqual(['/v1/authorize']);
});

test('an ask sends the frozen action, its hash, the context and a fresh idempotency key', async () => {
  const { refund } = await guard();
  await refund(call(), { context: { session_id: 's-2', justification: 'asked twice' } });
  await refund(call());
  const [first, second] = peer.to('/authorize');
  expect(first?.body).toEqual({
    tool_call: asked,
    action_hash: computeActionHash(asked),
    context: { session_id: 's-2', environment: 'production', justification: 'asked twice' },
    dry_run: false,
  });
  expect(first?.headers['idempotency-key']).toMatch(/^[0-9a-f]{64}$/);
  expect(second?.headers['idempotency-key']).not.toBe(first?.headers['idempotency-key']);
});

test('an approved call is consumed with hash, token and binding, runs once, and its outcome is reported', async () => {
  const { refund, runs } = await guard();
  expect(await refund(call())).toBe('refunded 9000');
  expect(runs).toHaveLength(1);
  expect(runs[0]?.run).toMatchObject({
    runId: APPROVAL_ID,
    decisionId: 'dec_1',
    approvalId: APPROVAL_ID,
    edited: false,
  });
  expect(peer.to('/consume').map(({ body }) => body)).toEqual([
    {
      action_hash: computeActionHash(asked),
      consumer_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      binding: { session_id: 's-1', environment: 'production' },
    },
  ]);
  expect(peer.to('/outcome').map(({ body }) => body)).toEqual([{ outcome: 'executed', effect: 'occurred' }]);
});

test('each consume has a token of its own', async () => {
  const { refund } = await guard();
  await refund(call());
  await refund(call());
  expect(new Set(peer.to('/consume').map(({ body }) => body.consumer_token)).size).toBe(2);
});

describe('EXACT BYTES', () => {
  test('an argument that is mutated after the call started does not reach the function', async () => {
    const { refund, runs } = await guard();
    const live = call();
    const running = refund(live);
    live.amount = 1_000_000;
    live.charge = 'ch_other';
    await running;
    expect(runs[0]?.parameters).toEqual(call());
    expect(peer.asked).toEqual(asked);
  });

  test('an allowed call whose argument is mutated meanwhile runs the frozen value as well', async () => {
    const { refund, runs } = await guard(allow);
    const live = call();
    const running = refund(live);
    live.amount = 1_000_000;
    await running;
    expect(runs[0]?.parameters).toEqual(call());
  });

  test('a spec and a context that are mutated later change nothing', async () => {
    peer = await startPeer();
    const context = { session_id: 's-1' };
    const spec = { tool: 'stripe', action: 'refund', resource: 'ch_1', mutatesState: true, context };
    const refund = clientOf(peer).protect(spec, () => 1);
    Object.assign(spec, { tool: 'crm', action: 'read_customer' });
    context.session_id = 's-2';
    await refund({ amount: 1 });
    expect(peer.asked).toMatchObject({ tool: 'stripe', action: 'refund' });
    expect(peer.to('/authorize')[0]?.body.context).toEqual({ session_id: 's-1' });
  });

  test('what the resource function does to its copy is not what is hashed or run', async () => {
    peer = await startPeer();
    const seen: unknown[] = [];
    const spec = {
      tool: 'stripe',
      action: 'refund',
      mutatesState: true,
      resource: (parameters: { amount: number }) => {
        parameters.amount = 5;
        return null;
      },
    };
    await clientOf(peer).protect(spec, (parameters) => seen.push(parameters))({ amount: 9000 });
    expect(peer.asked.parameters).toEqual({ amount: 9000 });
    expect(seen).toEqual([{ amount: 9000 }]);
  });

  test('what one run does to its parameters is not seen by the next', async () => {
    peer = await startPeer(allow);
    const seen: number[] = [];
    const live = { list: [1] };
    const push = clientOf(peer).protect(
      { tool: 't', action: 'a', mutatesState: false },
      (parameters: { list: number[] }) => {
        seen.push(parameters.list.length);
        parameters.list.push(2);
      },
    );
    await push(live);
    await push(live);
    expect(seen).toEqual([1, 1]);
    expect(live).toEqual({ list: [1] });
  });
});

describe('what is no JSON or no spec is a TypeError, and nothing is sent', () => {
  test.each([
    ['an undefined member', { charge: 'ch_1', amount: undefined }, '/amount'],
    ['a date', { charge: 'ch_1', amount: new Date() }, '/amount'],
    ['an array', [1], ''],
    ['no object', 7, ''],
  ])('%s', async (_name, parameters, pointer) => {
    const { refund, runs } = await guard();
    await expect(refund(parameters as never)).rejects.toThrow(`\`${pointer}\`: `);
    expect(peer.received).toHaveLength(0);
    expect(runs).toHaveLength(0);
  });

  test('a resource that is no text', async () => {
    const { refund } = await guard();
    await expect(refund({ charge: 7, amount: 1 } as never)).rejects.toThrow(TypeError);
    expect(peer.received).toHaveLength(0);
  });

  test('a spec without `mutatesState`, or an option that is none', async () => {
    const { aegis, refund } = await guard();
    const spec = { tool: 'stripe', action: 'refund' };
    expect(() => aegis.protect(spec as never, () => 1)).toThrow(TypeError);
    await expect(refund(call(), { waitMs: Number.NaN })).rejects.toThrow(TypeError);
    await expect(refund(call(), { onEdited: 'ignore' as never })).rejects.toThrow(TypeError);
    expect(peer.received).toHaveLength(0);
  });
});

describe('what is refused does not run', () => {
  test('a deny, with the service’s text for the model', async () => {
    const denial = {
      by: 'person',
      reason: 'not today',
      instruction: 'Do not retry. The person said: "not today"',
    };
    const { refund, runs } = await guard((_request, self) => ({
      body: authorizeAnswer(self, { decision: 'deny', approval: null, reason: 'rejected before', denial }),
    }));
    const error = await refund(call()).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'denied', reason: 'rejected before', forModel: denial.instruction });
    expect(runs).toHaveLength(0);
  });

  test.each([
    ['rejected', { status: 'rejected', decision_reason: 'too much' }, 'rejected', 'too much'],
    ['expired', { status: 'expired' }, 'expired', null],
    ['cancelled', { status: 'cancelled' }, 'cancelled', null],
    ['voided', { status: 'voided', void_reason: 'key_revoked' }, 'voided', 'key_revoked'],
    ['consumed elsewhere', { status: 'consumed' }, 'already_consumed', null],
  ])('an approval that is %s', async (_name, changes, code, reason) => {
    const { refund, runs } = await guard(withApproval(changes));
    await expect(refund(call())).rejects.toMatchObject({ code, reason });
    expect(runs).toHaveLength(0);
    expect(peer.to('/consume')).toHaveLength(0);
  });

  test.each([
    ['approval_already_consumed', 409, 'already_consumed'],
    ['approval_voided', 409, 'voided'],
    ['approval_expired', 410, 'expired'],
    ['binding_mismatch', 409, 'integrity'],
    ['action_hash_mismatch', 409, 'integrity'],
    ['agent_frozen', 403, 'forbidden'],
    ['unauthenticated', 401, 'unauthenticated'],
  ])('a consume that is answered with %s', async (wire, status, code) => {
    const { refund, runs } = await guard(({ path }) =>
      path.endsWith('/consume') ? problem(status, wire) : undefined,
    );
    await expect(refund(call())).rejects.toMatchObject({ code });
    expect(runs).toHaveLength(0);
    expect(peer.to('/outcome')).toHaveLength(0);
  });
});

describe('an edit', () => {
  const smaller: ToolCall = { ...asked, parameters: { amount: 4000, charge: 'ch_1' } };
  const editedTo =
    (call: ToolCall): Answer =>
    ({ method, path }, self) => {
      if (method === 'GET') {
        return { body: self.approval(edited(call)) };
      }
      return path.endsWith('/consume') ? { body: consumeAnswer(call) } : undefined;
    };

  test('runs the edited parameters, under the edited hash', async () => {
    const { refund, runs } = await guard(editedTo(smaller));
    expect(await refund(call())).toBe('refunded 4000');
    expect(runs[0]).toMatchObject({
      parameters: { amount: 4000, charge: 'ch_1' },
      run: { edited: true, actionHash: computeActionHash(smaller) },
    });
    expect(peer.to('/consume')[0]?.body.action_hash).toBe(computeActionHash(smaller));
  });

  test('is cancelled and refused where the caller says so', async () => {
    const { refund, runs } = await guard(editedTo(smaller));
    await expect(refund(call(), { onEdited: 'refuse' })).rejects.toMatchObject({ code: 'cancelled' });
    expect(runs).toHaveLength(0);
    expect(peer.to('/consume')).toHaveLength(0);
    expect(peer.to('/cancel')).toHaveLength(1);
  });

  test.each([
    ['tool', { ...smaller, tool: 'crm' }],
    ['action', { ...smaller, action: 'charge' }],
    ['resource', { ...smaller, resource: 'ch_2' }],
    ['mutates_state', { ...smaller, mutates_state: false }],
  ])('of the %s is refused: only parameters may differ', async (_name, changed) => {
    const { refund, runs } = await guard(editedTo(changed));
    await expect(refund(call())).rejects.toMatchObject({ code: 'integrity' });
    expect(runs).toHaveLength(0);
    expect(peer.to('/consume')).toHaveLength(0);
  });
});

describe('waiting', () => {
  const pendingFor =
    (times: number): Answer =>
    ({ method, before }, self) =>
      method === 'GET' && before < times ? { body: self.approval({ status: 'pending' }) } : undefined;

  test('goes on by long polls until a person has decided', async () => {
    const { refund } = await guard(pendingFor(3));
    expect(await refund(call())).toBe('refunded 9000');
    const polls = peer.received.filter(({ method }) => method === 'GET');
    expect(polls.map(({ query }) => query.get('wait'))).toEqual(['25', '25', '25', '25']);
  });

  test('ends at the caller’s deadline with a pending error that is not a denial', async () => {
    const { refund, runs } = await guard(({ method }) => (method === 'GET' ? { hang: true } : undefined));
    const error = await refund(call(), { waitMs: 30 }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(PendingError);
    expect((error as PendingError).toJSON()).toEqual({
      approval_id: APPROVAL_ID,
      original_action_hash: computeActionHash(asked),
      canonical_action:
        '{"action":"refund","mutates_state":true,"parameters":{"amount":9000,"charge":"ch_1"},"resource":"ch_1","tool":"stripe"}',
    });
    expect((error as PendingError).forModel).toContain('This is not a denial.');
    expect(runs).toHaveLength(0);
    expect(peer.to('/cancel')).toHaveLength(0);
  });

  test('of no time looks once', async () => {
    const { refund } = await guard(pendingFor(9));
    await expect(refund(call(), { waitMs: 0 })).rejects.toBeInstanceOf(PendingError);
    expect(peer.received.filter(({ method }) => method === 'GET')).toHaveLength(1);
  });

  test('is ended by the signal, with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('the user left');
    const { refund, runs } = await guard(({ method }) => {
      if (method === 'GET') {
        controller.abort(reason);
        return { hang: true };
      }
      return undefined;
    });
    await expect(refund(call(), { signal: controller.signal })).rejects.toBe(reason);
    expect(runs).toHaveLength(0);
  });

  test('outlives a service that is away for a while', async () => {
    const { refund } = await guard(({ method, before }) =>
      method === 'GET' && before < 7 ? { cut: true } : undefined,
    );
    expect(await refund(call())).toBe('refunded 9000');
  });

  test('ends as pending when the service stays away', async () => {
    const { refund, runs } = await guard(({ method }) => (method === 'GET' ? { cut: true } : undefined));
    const error = await refund(call()).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(PendingError);
    expect((error as PendingError).cause).toMatchObject({ code: 'unavailable' });
    expect(runs).toHaveLength(0);
  });

  test('ends when the credential stops standing', async () => {
    const { refund } = await guard(({ method }) =>
      method === 'GET' ? problem(401, 'unauthenticated') : undefined,
    );
    await expect(refund(call())).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('starts after the hook for pending calls is done, and not at all when it fails', async () => {
    const { refund } = await guard();
    const stored: PendingApproval[] = [];
    await refund(call(), { onPending: async (pending) => void stored.push(pending) });
    expect(stored).toMatchObject([
      { approval_id: APPROVAL_ID, original_action_hash: computeActionHash(asked) },
    ]);
    const failure = new Error('disk full');
    const failing = refund(call(), { onPending: () => Promise.reject(failure) });
    await expect(failing).rejects.toBe(failure);
    expect(peer.to('/consume')).toHaveLength(1);
  });
});

describe('after the consume', () => {
  test('a function that throws is reported as failed with unknown effect, and its own error comes through', async () => {
    peer = await startPeer();
    const failure = new Error('card network down');
    const refund = clientOf(peer).protect({ tool: 'stripe', action: 'refund', mutatesState: true }, () => {
      throw failure;
    });
    await expect(refund({ amount: 1 })).rejects.toBe(failure);
    expect(peer.to('/outcome').map(({ body }) => body)).toEqual([{ outcome: 'failed', effect: 'unknown' }]);
  });

  test.each([
    ['returned', (): string => 'half of it'],
    [
      'threw',
      (): string => {
        throw new Error('half of it');
      },
    ],
  ])('the outcome is the last that the function told of its own, when it %s', async (_, end) => {
    peer = await startPeer();
    const refund = clientOf(peer).protect(
      { tool: 'stripe', action: 'refund', mutatesState: true },
      (_parameters: { amount: number }, run) => {
        run.setOutcome({ outcome: 'executed' });
        run.setOutcome({ outcome: 'failed', effect: 'none', detail: 'half of it' });
        return end();
      },
    );
    await refund({ amount: 1 }).catch(() => undefined);
    expect(peer.to('/outcome').map(({ body }) => body)).toEqual([
      { outcome: 'failed', effect: 'none', detail: 'half of it' },
    ]);
  });

  test('a call aborted while it was consumed does not run and is reported as without effect', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const { refund, runs } = await guard(({ path }) => {
      if (path.endsWith('/consume')) {
        controller.abort(reason);
      }
      return undefined;
    });
    await expect(refund(call(), { signal: controller.signal })).rejects.toBe(reason);
    expect(runs).toHaveLength(0);
    expect(peer.to('/outcome').map(({ body }) => body)).toEqual([{ outcome: 'failed', effect: 'none' }]);
  });

  test('failing to report does not turn success into failure, and is told to the hook', async () => {
    const failed: unknown[] = [];
    const { aegis, refund, runs } = await guard(
      ({ path }) => (path.endsWith('/outcome') ? problem(403, 'forbidden') : undefined),
      { onReportFailed: (failure) => failed.push(failure) },
    );
    expect(await refund(call())).toBe('refunded 9000');
    await aegis.flush();
    expect(runs).toHaveLength(1);
    expect(failed).toMatchObject([
      { approvalId: APPROVAL_ID, outcome: { outcome: 'executed' }, error: { code: 'forbidden' } },
    ]);
  });

  test('a report is retried, for a bounded time, and the function is not', async () => {
    const { aegis, refund, runs } = await guard(({ path, before }) =>
      path.endsWith('/outcome') && before < 6 ? { cut: true } : undefined,
    );
    expect(await refund(call())).toBe('refunded 9000');
    await aegis.flush();
    expect(peer.to('/outcome')).toHaveLength(7);
    expect(runs).toHaveLength(1);
  });

  test('a report that cannot be made is given up', async () => {
    const failed: unknown[] = [];
    const { aegis, refund } = await guard(
      ({ path }) => (path.endsWith('/outcome') ? problem(503, 'unavailable') : undefined),
      { onReportFailed: (failure) => failed.push(failure) },
    );
    expect(await refund(call())).toBe('refunded 9000');
    await aegis.flush();
    expect(failed).toHaveLength(1);
    expect((failed[0] as { error: unknown }).error).toBeInstanceOf(AegisError);
  });
});
