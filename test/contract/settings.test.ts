import { afterAll, describe, expect, test } from 'vitest';
import { startTestService } from '../support/test_service.ts';
import { expectOk, expectProblem } from './support.ts';

const service = await startTestService();
const elsewhere = await startTestService({ databaseUrl: service.databaseUrl });
afterAll(async () => {
  await elsewhere.close();
  await service.close();
});

const put = (body: unknown) => service.operator.call('PUT', '/v1/settings', body);

describe('/v1/settings', () => {
  test('a new tenant has the tier `auto`', async () => {
    expect((await service.operator.get('/v1/settings')).body).toStrictEqual({ tier: 'auto' });
  });

  test.each(['ask', 'full', 'auto'])('the tier `%s` that was put is read on every process', async (tier) => {
    expect((await put({ tier })).body).toStrictEqual({ tier });
    const read = await elsewhere.as(service.tokens.OPERATOR).get('/v1/settings');
    expect(read.body).toStrictEqual({ tier });
  });

  test.each([{}, { tier: null }, { tier: 'AUTO' }, { tier: 'none' }, { tier: 'ask', more: 1 }])(
    'refuses %j and changes nothing',
    async (body) => {
      expectProblem(await put(body), 422, 'invalid_request');
      expectOk(await service.operator.get('/v1/settings'), { tier: 'auto' });
    },
  );

  test.each(['agent', 'approver'] as const)('is not for a key with the role %s', async (who) => {
    expectProblem(await service[who].get('/v1/settings'), 403, 'forbidden');
    expectProblem(await service[who].call('PUT', '/v1/settings', { tier: 'full' }), 403, 'forbidden');
  });

  test('are the tenant’s own', async () => {
    await service.sql`update keys set roles = '{operator,platform}' where principal = 'operator-1'`;
    const made = await service.operator.post('/v1/tenants', { tenant_id: 'theirs' });
    const theirs = service.as(made.body.operator_key.key);
    expectOk(await theirs.call('PUT', '/v1/settings', { tier: 'ask' }), { tier: 'ask' });
    expectOk(await service.operator.get('/v1/settings'), { tier: 'auto' });
  });
});
