import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { ask, makeKey } from '../support/calls.ts';
import { uuidOf } from '../support/locks.ts';
import { startTestService } from '../support/test_service.ts';

// The process's clock and the database's are apart: a wait ends by the database's, and reads no more often for it.

const service = await startTestService();
afterAll(() => service.close());
afterEach(() => {
  vi.unstubAllGlobals();
});

const SKEW_MS = 10_000;
const LEFT_MS = 1500;
/** Readings of one wait: at its start, at its end, and some to spare. */
const READINGS_MAX = 6;

/** Shifts this process's clock, and so the service's; the database keeps its own. */
function shiftClock(byMs: number): void {
  const RealDate = Date;
  class ShiftedDate extends RealDate {
    constructor(value: number | string | Date = RealDate.now() + byMs) {
      super(value);
    }
    static override now(): number {
      return RealDate.now() + byMs;
    }
  }
  vi.stubGlobal('Date', ShiftedDate);
}

async function readCounted(token: string, id: string) {
  const before = service.statements.length;
  const startedAt = performance.now();
  const answer = await service.as(token).get(`/v1/approvals/${id}?wait=50`);
  const ms = performance.now() - startedAt;
  const readings = service.statements.slice(before).filter((text) => text.includes('json_agg')).length;
  return { answer, ms, readings };
}

describe.each([
  ['ahead of', SKEW_MS],
  ['behind', -SKEW_MS],
])('with a clock %s the database’s', (_where, skewMs) => {
  test('a wait ends with its approval’s expiry', async () => {
    const id = await ask(service.agent);
    shiftClock(skewMs);
    await service.sql`update approvals set expires_at = clock_timestamp() + ${LEFT_MS} * interval '1 ms'
      where approval_id = ${uuidOf(id)}`;
    const { answer, ms, readings } = await readCounted(service.tokens.AGENT, id);
    expect(answer.body.status).toBe('expired');
    expect(ms).toBeLessThan(SKEW_MS / 2);
    expect(readings).toBeLessThanOrEqual(READINGS_MAX);
  });

  test('a wait ends with its key’s expiry', async () => {
    const key = await makeKey(service.operator, { principal: 'auditor-1', roles: ['auditor'] });
    const id = await ask(service.agent);
    shiftClock(skewMs);
    await service.sql`update keys set expires_at = clock_timestamp() + ${LEFT_MS} * interval '1 ms'
      where key_id = ${key.id.slice('key_'.length)}`;
    const { answer, ms, readings } = await readCounted(key.token, id);
    expect(answer.body.code).toBe('unauthenticated');
    expect(ms).toBeLessThan(SKEW_MS / 2);
    expect(readings).toBeLessThanOrEqual(READINGS_MAX);
  });
});
