import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MASK } from '../../src/core/secret_values.ts';
import { ask } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { expectOk, expectProblem, newActor, ROOMY, readApproval } from './support.ts';

const TOKEN = 'tok-7f3a9c';

let service: TestService;
let id: string;

beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
  await putTool(service.operator, 'deploy', 'release', RELEASE);
  await putPolicies(service.operator, releaseAsk(''));
  id = await ask(service.agent, release('shop', { token: TOKEN }));
});
afterAll(() => service.close());

describe('the value of a secret parameter', () => {
  test('is shown to the asking agent', async () => {
    const approval = await readApproval(service.agent, id);

    expect(approval).toMatchObject({ masked: [], tool_call: release('shop', { token: TOKEN }) });
    expect(approval.canonical_action).toContain(TOKEN);
  });

  test('is shown to nobody else, and where it is masked is said', async () => {
    const auditor = await newActor(service, ['auditor']);
    for (const client of [service.approver, service.operator, auditor.client]) {
      const answer = await client.get(`/v1/approvals/${id}`);
      const list = await client.get('/v1/approvals');

      expect(answer.text + list.text).not.toContain(TOKEN);
      expect(answer.body).toMatchObject({
        masked: ['/parameters/token'],
        canonical_action: null,
        tool_call: release('shop', { token: MASK }),
        original_tool_call: release('shop', { token: MASK }),
      });
      expect(answer.body.action_hash).toBe((await readApproval(service.agent, id)).action_hash);
    }
  });

  test('is not masked where there is none', async () => {
    const plain = await ask(service.agent, release('shop'));

    expect(await readApproval(service.approver, plain)).toMatchObject({
      masked: [],
      canonical_action: expect.stringContaining('shop'),
    });
  });

  test('stays as it is when an editor sends the mask back, and binds', async () => {
    const edited = await ask(service.agent, release('shop', { token: TOKEN }));
    const answer = await service.approver2.post(`/v1/approvals/${edited}/edit`, {
      tool_call: release('other', { token: MASK }),
    });
    expectOk(answer, { masked: ['/parameters/token'] });
    expect(answer.text).not.toContain(TOKEN);
    const { action_hash } = answer.body;
    await service.approver.post(`/v1/approvals/${edited}/approve`, { action_hash });

    const consumed = await service.agent.post(`/v1/approvals/${edited}/consume`, { action_hash });

    expectOk(consumed, { tool_call: release('other', { token: TOKEN }) });
  });

  test('alone sent back changes nothing, and is no edit', async () => {
    const same = await ask(service.agent, release('shop', { token: TOKEN }));

    const answer = await service.approver.post(`/v1/approvals/${same}/edit`, {
      tool_call: release('shop', { token: MASK }),
    });

    expectProblem(answer, 422, 'invalid_request');
  });
});
