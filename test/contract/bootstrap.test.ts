import { describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api_client.ts';
import { ask, makeKey } from '../support/calls.ts';
import { createTestDatabase } from '../support/test_database.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { expectOk, expectProblem, readApproval } from './support.ts';

const FIRST = 'first-bootstrap-key-with-32-and-more';
const SECOND = 'another-bootstrap-key-with-32-and-more';

/** Runs the steps on services started one after the other on one database, each with its bootstrap key, if any. */
async function inSequence(...starts: { key?: string; run: (service: TestService) => Promise<void> }[]) {
  const database = await createTestDatabase();
  try {
    for (const { key, run } of starts) {
      const env = key === undefined ? {} : { AEGIS_BOOTSTRAP_OPERATOR_KEY: key };
      const service = await startTestService({ databaseUrl: database.url, env });
      try {
        await run(service);
      } finally {
        await service.close();
      }
    }
  } finally {
    await database.drop();
  }
}

async function expectRefused(client: ApiClient): Promise<void> {
  expectProblem(await client.get('/v1/me'), 401, 'unauthenticated');
}

describe('AEGIS_BOOTSTRAP_OPERATOR_KEY', () => {
  test('is the whole bearer token of an operator and platform key of tenant default, made once', async () => {
    let keyId = '';
    await inSequence(
      {
        key: FIRST,
        run: async (service) => {
          const { body } = await service.as(FIRST).get('/v1/me');
          expect(body).toMatchObject({
            tenant_id: 'default',
            roles: ['operator', 'platform'],
            expires_at: null,
          });
          keyId = body.key_id;
          expect((await service.as(FIRST).get('/v1/keys')).body.items).toHaveLength(1);
          expect(service.tokens.OPERATOR).toBe('');
        },
      },
      {
        key: FIRST,
        run: async (service) => expectOk(await service.as(FIRST).get('/v1/me'), { key_id: keyId }),
      },
    );
  });

  test('revoked it stays revoked', async () => {
    let other = '';
    await inSequence(
      {
        key: FIRST,
        run: async (service) => {
          const { body: me } = await service.as(FIRST).get('/v1/me');
          other = (await makeKey(service.as(FIRST), { principal: 'operator-2', roles: ['operator'] })).token;
          expect((await service.as(other).delete(`/v1/keys/${me.key_id}`)).status).toBe(204);
          await expectRefused(service.as(FIRST));
        },
      },
      {
        key: FIRST,
        run: async (service) => {
          await expectRefused(service.as(FIRST));
          expectOk(await service.as(other).get('/v1/me'));
        },
      },
    );
  });

  test('another value at the next start revokes the former, and leaves what others made', async () => {
    let operator = '';
    let agent = '';
    let approval = '';
    await inSequence(
      {
        key: FIRST,
        run: async (service) => {
          operator = (await makeKey(service.as(FIRST), { principal: 'operator-2', roles: ['operator'] }))
            .token;
          agent = (await makeKey(service.as(FIRST), { principal: 'agent-1', roles: ['agent'] })).token;
          await makeKey(service.as(FIRST), { principal: 'approver-1', roles: ['approver'] });
          approval = await ask(service.as(agent));
        },
      },
      {
        key: SECOND,
        run: async (service) => {
          await expectRefused(service.as(FIRST));
          expectOk(await service.as(SECOND).get('/v1/me'), { roles: ['operator', 'platform'] });
          expectOk(await service.as(operator).get('/v1/me'));
          expect((await readApproval(service.as(agent), approval)).status).toBe('pending');
          const { body } = await service.as(SECOND).get('/v1/keys');
          const revoked = body.items.filter((key: { revoked_at: string | null }) => key.revoked_at !== null);
          expect(revoked).toHaveLength(1);
        },
      },
    );
  });

  test('another value ends the waits of the former on other replicas at once', async () => {
    await inSequence({
      key: FIRST,
      run: async (service) => {
        const agent = await makeKey(service.as(FIRST), { principal: 'agent-1', roles: ['agent'] });
        await makeKey(service.as(FIRST), { principal: 'approver-1', roles: ['approver'] });
        const approval = await ask(service.as(agent.token));
        const before = service.statements.length;
        const waiting = service
          .as(FIRST)
          .get(`/v1/approvals/${approval}?wait=50`)
          .then((answer) => ({ answer, at: performance.now() }));
        const hasRead = () => service.statements.slice(before).some((text) => text.includes('json_agg'));
        await expect.poll(hasRead, { interval: 5 }).toBe(true);
        const env = { AEGIS_BOOTSTRAP_OPERATOR_KEY: SECOND };
        const other = await startTestService({ databaseUrl: service.databaseUrl, env });
        const startedAt = performance.now();
        const { answer, at } = await waiting;
        await other.close();
        expectProblem(answer, 401, 'unauthenticated');
        expect(at - startedAt).toBeLessThan(2000);
      },
    });
  });

  test('a value that was revoked comes back without effect, and the present key stands', async () => {
    await inSequence(
      { key: FIRST, run: async (service) => expectOk(await service.as(FIRST).get('/v1/me')) },
      { key: SECOND, run: async (service) => expectRefused(service.as(FIRST)) },
      {
        key: FIRST,
        run: async (service) => {
          await expectRefused(service.as(FIRST));
          expectOk(await service.as(SECOND).get('/v1/me'));
          expect(service.logged.map(({ message }) => message)).toContainEqual(
            expect.stringContaining('Set another value'),
          );
        },
      },
    );
  });

  test('left out at the next start it stands, and no first keys are made', async () => {
    await inSequence(
      { key: FIRST, run: async () => undefined },
      {
        run: async (service) => {
          expectOk(await service.as(FIRST).get('/v1/me'));
          expect(service.tokens.OPERATOR).toBe('');
        },
      },
    );
  });

  test('set after a first start without it, it joins the first keys', async () => {
    let operator = '';
    await inSequence(
      {
        run: async (service) => {
          operator = service.tokens.OPERATOR;
        },
      },
      {
        key: FIRST,
        run: async (service) => {
          expectOk(await service.as(FIRST).get('/v1/me'), { roles: ['operator', 'platform'] });
          expectOk(await service.as(operator).get('/v1/me'), { roles: ['operator'] });
        },
      },
    );
  });

  test.each(['x'.repeat(32), `${'A-._~+/'.repeat(36)}=`])(
    'any 32 to 256 token characters: %s',
    async (key) => {
      await inSequence({ key, run: async (service) => expectOk(await service.as(key).get('/v1/me')) });
    },
  );

  test.each(['x'.repeat(31), 'x'.repeat(257), `${'x'.repeat(32)} y`, `${'x'.repeat(32)}"`])(
    'what is no such token stops the start: %s',
    async (key) => {
      const start = startTestService({ env: { AEGIS_BOOTSTRAP_OPERATOR_KEY: key } });
      await expect(start).rejects.toThrow(/AEGIS_BOOTSTRAP_OPERATOR_KEY/);
    },
  );
});

test('a start on a database with keys makes no first keys', async () => {
  await inSequence(
    {
      run: async (service) => {
        expect(service.tokens.OPERATOR).toMatch(/^aeg_/);
      },
    },
    {
      run: async (service) => {
        expect(service.tokens.OPERATOR).toBe('');
      },
    },
  );
});
