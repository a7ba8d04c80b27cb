import { afterAll, expect, test } from 'vitest';
import { makeKey } from '../support/calls.ts';
import { createTestDatabase } from '../support/test_database.ts';
import { startTestService } from '../support/test_service.ts';
import { expectOk, expectProblem } from './support.ts';

const FIRST = 'first-bootstrap-key-'.padEnd(40, 'x');
const SECOND = 'second-bootstrap-key-'.padEnd(40, 'x');

const database = await createTestDatabase();
afterAll(() => database.drop());

const start = (token: string) =>
  startTestService({ databaseUrl: database.url, env: { AEGIS_BOOTSTRAP_OPERATOR_KEY: token } });

test('a bootstrap key of a disabled principal does not stand, replaces no other, and stands once that is enabled', async () => {
  const first = await start(FIRST);
  const { token } = await makeKey(first.as(FIRST), { principal: 'operator-2', roles: ['operator'] });
  const put = (disabled: boolean) =>
    first.as(token).call('PUT', '/v1/principals/operator-1', { groups: [], disabled });
  expectOk(await put(true));
  const second = await start(SECOND);
  for (const key of [FIRST, SECOND])
    expectProblem(await second.as(key).get('/v1/me'), 401, 'unauthenticated');
  expectOk(await put(false));
  for (const key of [FIRST, SECOND])
    expectOk(await second.as(key).get('/v1/me'), { principal: 'operator-1' });
  expect((await second.as(token).get('/v1/me')).status).toBe(200);
  await second.close();
  await first.close();
});
