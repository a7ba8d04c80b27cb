import { expect } from 'vitest';
import { ask, askApproved, authorize, refund } from './calls.ts';
import { startTestService } from './test_service.ts';

/** What a new user does, on the given database and over two processes: each step and each refusal. */
export async function walkThrough(databaseUrl: string): Promise<void> {
  const service = await startTestService({ databaseUrl });
  const other = await startTestService({ databaseUrl });
  try {
    const agentElsewhere = other.as(service.tokens.AGENT);
    expect((await authorize(service.agent, refund(100))).body.decision).toBe('allow');
    expect((await service.anonymous.get('/readyz')).status).toBe(200);

    const waited = await ask(service.agent);
    const waiting = agentElsewhere.get(`/v1/approvals/${waited}?wait=20`);
    await service.approver.post(`/v1/approvals/${waited}/approve`);
    expect((await waiting).body.status).toBe('approved');

    const consumes = await Promise.all(
      Array.from({ length: 32 }, (_, index) =>
        (index % 2 === 0 ? service.agent : agentElsewhere).post(`/v1/approvals/${waited}/consume`),
      ),
    );
    expect(consumes.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(consumes.filter(({ body }) => body.code === 'approval_already_consumed')).toHaveLength(31);
    const outcome = await service.agent.post(`/v1/approvals/${waited}/outcome`, { outcome: 'executed' });
    expect(outcome.body.outcome).toMatchObject({ outcome: 'executed' });

    const toolCall = refund(9000);
    const id = await ask(service.agent, toolCall);
    const edited = { ...toolCall, parameters: { amount: 6000, currency: 'usd' } };
    await service.approver.post(`/v1/approvals/${id}/edit`, { tool_call: edited });
    expect((await service.approver2.post(`/v1/approvals/${id}/approve`)).status).toBe(428);
    const { action_hash } = (await service.approver2.get(`/v1/approvals/${id}`)).body;
    await service.approver2.post(`/v1/approvals/${id}/approve`, { action_hash });
    const ran = await service.agent.post(`/v1/approvals/${id}/consume`, { action_hash });
    expect(ran.body.tool_call.parameters).toStrictEqual(edited.parameters);

    const voided = await askApproved(service.agent, service.approver);
    const { items } = (await service.operator.get('/v1/keys')).body;
    const key = items.find(({ principal }: { principal: string }) => principal === 'approver-1');
    await service.operator.delete(`/v1/keys/${key.id}`);
    const refused = await agentElsewhere.post(`/v1/approvals/${voided}/consume`);
    expect(refused.body.code).toBe('approval_voided');
  } finally {
    await other.close();
    await service.close();
  }
}
