import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ApiAnswer, ApiClient } from '../support/api_client.ts';
import { ask, authorize } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { makeFolder, type ServiceProcess, startServiceProcess } from '../support/service_process.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// A grant's uses are counted by the statement that decides.

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const LIMITS = { AEGIS_PENDING_LIMIT: '100000', AEGIS_ASK_LIMIT_PER_HOUR: '100000' };

let service: TestService;
let other: ServiceProcess;
const folder = makeFolder();

beforeAll(async () => {
  service = await startTestService({ env: LIMITS });
  await putTool(service.operator, 'deploy', 'release', RELEASE);
  await putPolicies(service.operator, releaseAsk('@max_scope("window")'));
  other = await startServiceProcess({
    DATABASE_URL: service.databaseUrl,
    AEGIS_DATA_DIR: folder.path,
    ...LIMITS,
  });
});
afterAll(async () => {
  await other?.end('SIGKILL');
  await service.close();
  folder.remove();
});

async function grant(call: object, maxUses: number): Promise<string> {
  const id = await ask(service.agent, call, { session_id: 's-1' });
  await service.approver.post(`/v1/approvals/${id}/approve`, {
    scope: 'window',
    window_seconds: 600,
    max_uses: maxUses,
  });
  const { body } = await service.operator.get('/v1/grants?agent=agent-1');
  return body.items[0].grant_id;
}

/** Sends the call many times at once, half of them by the other process. */
function race(call: object, count: number): Promise<ApiAnswer[]> {
  const clients: ApiClient[] = [service.agent, other.as(service.tokens.AGENT)];
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      authorize(clients[index % 2] as ApiClient, call, { context: { session_id: 's-1' } }),
    ),
  );
}

const countOf = (answers: ApiAnswer[], decision: string): number =>
  answers.filter(({ body }) => body.decision === decision).length;

test.each([1, 7])('over two processes %i uses answer as many calls, and every other asks', async (uses) => {
  const call = release(`svc-${randomUUID()}`);
  const grantId = await grant(call, uses);

  const answers = await race(call, 40);

  expect(countOf(answers, 'allow')).toBe(uses);
  expect(countOf(answers, 'require_approval')).toBe(40 - uses);
  const { body } = await service.operator.get('/v1/grants?agent=agent-1');
  expect(body.items.find((one: { grant_id: string }) => one.grant_id === grantId).uses).toBe(uses);
});

test('from the answer to its revocation on a grant answers no call of either process', async () => {
  const call = release(`svc-${randomUUID()}`);
  const grantId = await grant(call, 100);
  let revoked = false;
  const late: string[] = [];
  const hammer = async (client: ApiClient): Promise<void> => {
    for (let index = 0; index < 20; index += 1) {
      const wasRevoked = revoked;
      const { body } = await authorize(client, call, { context: { session_id: 's-1' } });
      if (wasRevoked) late.push(body.decision);
      if (body.decision === 'require_approval')
        await client.post(`/v1/approvals/${body.approval.approval_id}/cancel`);
    }
  };
  const hammers = [service.agent, other.as(service.tokens.AGENT)].map(hammer);

  expect((await service.operator.delete(`/v1/grants/${grantId}`)).status).toBe(204);
  revoked = true;
  await Promise.all(hammers);

  expect(late.length).toBeGreaterThan(0);
  expect(new Set(late)).toEqual(new Set(['require_approval']));
});
