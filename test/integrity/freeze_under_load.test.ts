import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ApiAnswer, ApiClient } from '../support/api_client.ts';
import { askApproved, authorize, makeKey, refund, TRUSTED } from '../support/calls.ts';
import { makeFolder, type ServiceProcess, startServiceProcess } from '../support/service_process.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// A frozen agent neither authorizes, replays an idempotent answer, nor consumes, on every replica, at once.

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

const ROOMY = {
  AEGIS_PENDING_LIMIT: '100000',
  AEGIS_ASK_LIMIT_PER_HOUR: '100000',
  AEGIS_APPROVAL_ATTEMPT_LIMIT: '100000',
};
const SENDERS_OF_EACH_KIND = 2;
const CALLS_AFTER_FREEZE = 5;
/** Successes of each kind on each process that are waited for before the freeze. */
const SUCCESSES_BEFORE = 2;
const APPROVED = 40;
/** Approvals that nobody spends before the freeze. */
const APPROVED_LEFT = 10;

const folder = makeFolder();
let service: TestService;
let processes: ServiceProcess[];

beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
  processes = await Promise.all(
    [1, 2].map((number) =>
      startServiceProcess({
        DATABASE_URL: service.databaseUrl,
        AEGIS_DATA_DIR: `${folder.path}/${number}`,
        ...ROOMY,
      }),
    ),
  );
});
afterAll(async () => {
  await Promise.all((processes ?? []).map((one) => one.end('SIGKILL')));
  folder.remove();
  await service.close();
});

type Kind = 'allow' | 'ask' | 'replay' | 'consume';

interface Observed {
  kind: Kind;
  process: number;
  /** Whether it was sent after the freeze had been answered. */
  sentAfter: boolean;
  answer: ApiAnswer;
}

/** Calls of one agent, of every kind and on both processes, that go on without a pause. */
class Load {
  readonly observed: Observed[] = [];
  readonly #token: string;
  readonly #approvedIds: string[];
  readonly #replayed = { tool_call: refund(1), context: TRUSTED };
  readonly #idempotencyKey = randomUUID();
  readonly #freeze = new AbortController();

  constructor(token: string, approvedIds: string[]) {
    this.#token = token;
    this.#approvedIds = approvedIds;
  }

  /** All calls sent from now on are sent after the freeze. */
  noteFreeze(): void {
    this.#freeze.abort();
  }

  async #call(kind: Kind, client: ApiClient): Promise<ApiAnswer> {
    if (kind === 'allow') return authorize(client, refund(1));
    if (kind === 'ask') return authorize(client, refund(9000));
    if (kind === 'consume') return client.post(`/v1/approvals/${this.#approvedIds.pop()}/consume`);
    const headers = { 'idempotency-key': this.#idempotencyKey };
    return client.post('/v1/authorize', this.#replayed, { headers });
  }

  async #send(kind: Kind, process: number): Promise<void> {
    const client = (processes[process] as ServiceProcess).as(this.#token);
    for (let after = 0; after < CALLS_AFTER_FREEZE; ) {
      const hasNone = kind === 'consume' && this.#approvedIds.length <= APPROVED_LEFT;
      if (hasNone && !this.#freeze.signal.aborted) await once(this.#freeze.signal, 'abort');
      const sentAfter = this.#freeze.signal.aborted;
      const answer = await this.#call(kind, client);
      this.observed.push({ kind, process, sentAfter, answer });
      if (sentAfter) after += 1;
    }
  }

  /** Resolves when each sender has made its calls after the freeze. */
  async run(): Promise<void> {
    // So that the key has an answer to replay.
    await this.#call('replay', service.as(this.#token));
    const senders = PLACES.flatMap(({ kind, process }) =>
      Array.from({ length: SENDERS_OF_EACH_KIND }, () => this.#send(kind, process)),
    );
    await Promise.all(senders);
  }

  /** Successes of the kind and process that has the fewest. */
  fewestSuccesses(): number {
    const successes = this.observed.filter(({ answer }) => answer.status === 200);
    return Math.min(
      ...PLACES.map(
        (place) =>
          successes.filter(({ kind, process }) => kind === place.kind && process === place.process).length,
      ),
    );
  }
}

const PLACES = (['allow', 'ask', 'replay', 'consume'] as const).flatMap((kind) =>
  [0, 1].map((process) => ({ kind, process })),
);

function describeCall({ kind, process, answer }: Observed): string {
  return `${kind} on ${process}: ${answer.status} ${answer.text}`;
}

test('after the freeze is answered nothing of the agent succeeds on any process, whatever is under way', async () => {
  const agent = 'agent-load';
  const { token } = await makeKey(service.operator, { principal: agent, roles: ['agent'] });
  const approvedIds = await Promise.all(
    Array.from({ length: APPROVED }, () => askApproved(service.as(token), service.approver)),
  );
  const load = new Load(token, approvedIds);
  const running = load.run();
  await expect
    .poll(() => load.fewestSuccesses(), { interval: 5, timeout: 30_000 })
    .toBeGreaterThanOrEqual(SUCCESSES_BEFORE);

  const operator = (processes[0] as ServiceProcess).as(service.tokens.OPERATOR);
  const answer = await operator.post(`/v1/agents/${agent}/freeze`);
  load.noteFreeze();
  expect(answer.status).toBe(204);
  await running;

  const late = load.observed.filter(({ sentAfter }) => sentAfter);
  expect(late).toHaveLength(PLACES.length * SENDERS_OF_EACH_KIND * CALLS_AFTER_FREEZE);
  expect(late.filter((one) => one.answer.body.code !== 'agent_frozen').map(describeCall)).toStrictEqual([]);
  // Sent before: it succeeded, was refused as frozen, or met an approval that the freeze had just voided.
  const astray = load.observed.filter(
    ({ answer: { status, body } }) =>
      status !== 200 && !['agent_frozen', 'approval_voided'].includes(body.code),
  );
  expect(astray.map(describeCall)).toStrictEqual([]);
  const rows = await service.sql`select distinct status from approvals where agent = ${agent} order by 1`;
  expect(rows.map(({ status }) => status)).toStrictEqual(['consumed', 'voided']);
});
