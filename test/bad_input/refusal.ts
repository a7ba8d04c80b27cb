import { expect } from 'vitest';
import type { FaultCode } from '../../src/core/fault.ts';
import { PROBLEM_TABLE } from '../../src/http/problem_table.ts';
import type { ApiAnswer } from '../support/api_client.ts';

/** An answer, however it was got. */
export interface SeenAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

export function seen(answer: ApiAnswer): SeenAnswer {
  return { status: answer.status, headers: Object.fromEntries(answer.headers), text: answer.text };
}

/** Statuses that say the service failed, not the request. */
const SERVER_ERROR = 500;
/** `action_hash_mismatch` has two: 422 for a call that contradicts itself, else 409. */
const HASH_MISMATCH_STATUSES = [409, 422];

/**
 * Fails unless the answer is one of the contract's problems, whole and consistent, that repeats nothing of
 * `secrets`. Returns its code.
 */
export function expectProblem(answer: SeenAnswer, what: string, secrets: readonly string[] = []): FaultCode {
  const where = `${what} → ${answer.status} ${answer.text.slice(0, 300)}`;
  expect(answer.status, where).toBeGreaterThanOrEqual(400);
  expect(answer.status, where).toBeLessThan(SERVER_ERROR);
  expect(answer.headers['content-type'], where).toBe('application/problem+json');
  expect(answer.headers['cache-control'], where).toBe('no-store');
  const problem = JSON.parse(answer.text);
  const code = problem.code as FaultCode;
  const kind = PROBLEM_TABLE[code];
  expect(kind, where).toBeDefined();
  expect(problem, where).toMatchObject({
    type: `urn:aegis:problem:${code.replaceAll('_', '-')}`,
    title: kind.title,
    status: answer.status,
    detail: expect.stringMatching(/\S/),
    request_id: expect.stringMatching(/^req_[0-9a-f-]{36}$/),
  });
  expect(code === 'action_hash_mismatch' ? HASH_MISMATCH_STATUSES : [kind.status], where).toContain(
    answer.status,
  );
  if (answer.status === 401) expect(answer.headers['www-authenticate'], where).toBe('Bearer');
  if (answer.status === 405) expect(answer.headers.allow, where).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  if (answer.status === 429) expect(answer.headers['retry-after'], where).toMatch(/^[1-9]\d*$/);
  if (code === 'invalid_request' && problem.errors !== undefined) {
    expect(problem.errors.length, where).toBeGreaterThan(0);
  }
  for (const secret of secrets)
    expect(answer.text.includes(secret), `${where} repeats \`${secret}\``).toBe(false);
  return code;
}

/** Fails unless the answer is a success or a problem: never a fault of the service. */
export function expectAnswered(answer: SeenAnswer, what: string): void {
  if (answer.status >= 400) expectProblem(answer, what);
  else expect(answer.status, what).toBeLessThan(300);
}
