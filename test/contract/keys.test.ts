import { afterAll, describe, expect, test } from 'vitest';
import { makeKey } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import {
  expectOk,
  expectProblem,
  newActor,
  newAgent,
  newName,
  UNKNOWN_KEY,
  uuidOf,
  withoutRequestId,
} from './support.ts';

const service = await startTestService({ env: { AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '1000' } });
afterAll(() => service.close());

const create = (key: object, by = service.operator) => by.post('/v1/keys', key);
const SOON = () => new Date(Date.now() + 3_600_000).toISOString();

describe('GET /v1/me', () => {
  test.each([
    ['agent', 'agent-1', ['agent'], []],
    ['approver', 'approver-1', ['approver'], ['finance']],
    ['approver2', 'approver-2', ['approver'], ['security']],
    ['operator', 'operator-1', ['operator'], []],
  ] as const)('the first %s key', async (name, principal, roles, groups) => {
    const answer = await service[name].get('/v1/me');
    expectOk(answer);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      tenant_id: 'default',
      principal,
      roles,
      groups,
      key_id: expect.stringMatching(/^key_[0-9a-f-]{36}$/),
      expires_at: null,
    });
  });

  test('names the expiry of a key that has one', async () => {
    const expires_at = SOON();
    const { token } = await makeKey(service.operator, { principal: 'temp', roles: ['auditor'], expires_at });
    expectOk(await service.as(token).get('/v1/me'), { expires_at, roles: ['auditor'] });
  });
});

describe('POST /v1/keys', () => {
  test('an agent’s key with everything; its token is shown once, and only its hash is stored', async () => {
    const principal = newName('agent');
    const key = {
      principal,
      roles: ['agent'],
      groups: ['bots'],
      owner: 'owner-1',
      expires_at: SOON(),
      source_trust_ceiling: 'semi_trusted',
      environments: ['staging'],
      workspaces: ['repo:a', 'repo:b'],
      unattended: true,
      workspace_root: '/srv/app',
      skill: true,
    };
    const answer = await create(key);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { id, key: token, created_at, ...rest } = answer.body;
    expect(id).toMatch(/^key_[0-9a-f-]{36}$/);
    expect(token).toMatch(new RegExp(`^aeg_${id}_[0-9A-Za-z]{43,}$`));
    expect(Date.parse(created_at)).toBeGreaterThan(Date.now() - 60_000);
    expect(rest).toEqual({ ...key, created_by: 'operator-1', revoked_at: null, revoke_reason: null });
    const { text } = await service.operator.get('/v1/keys');
    const [row] =
      await service.sql`select row_to_json(k)::text as text from keys k where key_id = ${uuidOf(id)}`;
    for (const place of [text, row?.text]) expect(place).not.toContain(token.split('_').at(-1));
    expectOk(await service.as(token).get('/v1/me'), { principal, groups: ['bots'] });
  });

  test('principals are compared in lower case', async () => {
    const principal = newName('Agent.Mixed@Example:1');
    const { body } = await create({ principal, roles: ['agent'] });
    expect(body.principal).toBe(principal.toLowerCase());
  });

  test('groups are added to the principal’s, for all its keys', async () => {
    const principal = newName('approver');
    const first = await makeKey(service.operator, { principal, roles: ['approver'], groups: ['finance'] });
    await makeKey(service.operator, { principal, roles: ['approver'], groups: ['security', 'finance'] });
    await makeKey(service.operator, { principal: principal.toUpperCase(), roles: ['auditor'] });
    expectOk(await service.as(first.token).get('/v1/me'), {
      groups: ['finance', 'security'],
      roles: ['approver'],
    });
  });

  test('an agent’s owner is by default the maker; one named later replaces it, none named keeps it', async () => {
    const principal = newName('agent');
    expect((await create({ principal, roles: ['agent'] })).body.owner).toBe('operator-1');
    expect((await create({ principal, roles: ['agent'], owner: 'Somebody' })).body.owner).toBe('somebody');
    expect((await create({ principal, roles: ['agent'] })).body.owner).toBe('somebody');
    expect((await create({ principal: newName('approver'), roles: ['approver'] })).body.owner).toBe(null);
  });

  test.each([
    ['agent and operator', { roles: ['agent', 'operator'] }, '/roles'],
    ['agent and platform', { roles: ['agent', 'platform'] }, '/roles'],
    ['platform', { roles: ['platform'] }, '/roles'],
    ['operator and platform', { roles: ['operator', 'platform'] }, '/roles'],
    ['no role', { roles: [] }, '/roles'],
    ['an unknown role', { roles: ['admin'] }, '/roles/0'],
    ['roles in text', { roles: 'agent' }, '/roles'],
    ['no roles', { roles: undefined }, '/roles'],
    ['no principal', { principal: undefined }, '/principal'],
    ['an empty principal', { principal: '' }, '/principal'],
    ['a principal with a space', { principal: 'a b' }, '/principal'],
    ['a principal of 129 characters', { principal: 'a'.repeat(129) }, '/principal'],
    ['a principal that is not ASCII', { principal: 'zoë' }, '/principal'],
    ['an owner of no form', { owner: 'a b' }, '/owner'],
    ['an owner for an approver', { roles: ['approver'], owner: 'a' }, '/owner'],
    ['a past expiry', { expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    ['an expiry that is no time', { expires_at: 'tomorrow' }, '/expires_at'],
    ['a ceiling unknown', { source_trust_ceiling: 'high' }, '/source_trust_ceiling'],
    [
      'a ceiling for an approver',
      { roles: ['approver'], source_trust_ceiling: 'unknown' },
      '/source_trust_ceiling',
    ],
    ['environments for an auditor', { roles: ['auditor'], environments: ['a'] }, '/environments'],
    ['workspaces in text', { workspaces: 'a' }, '/workspaces'],
    ['unattended in text', { unattended: 'yes' }, '/unattended'],
    ['unattended for an operator', { roles: ['operator'], unattended: true }, '/unattended'],
    ['a tenant', { tenant_id: 'other' }, '/tenant_id'],
    ['a token', { key: 'x'.repeat(64) }, '/key'],
  ])('%s is 422 at its pointer', async (_what, change, pointer) => {
    const answer = await create({ principal: 'nobody', roles: ['agent'], ...change });
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer);
    const made = await service.sql`select from keys where principal = 'nobody'`;
    expect(made).toHaveLength(0);
  });

  test('a principal of 128 characters, and an expiry with an offset', async () => {
    const expires_at = '2999-01-01T02:00:00+02:00';
    const { status, body } = await create({ principal: 'a'.repeat(128), roles: ['auditor'], expires_at });
    expect({ status, expires_at: body.expires_at }).toEqual({
      status: 201,
      expires_at: '2999-01-01T00:00:00.000Z',
    });
  });

  test.each(['agent', 'approver', 'auditor'])('%s may not make, list or revoke keys', async (role) => {
    const { client, keyId } = await newActor(service, [role]);
    expectProblem(await create({ principal: 'x', roles: ['agent'] }, client), 403, 'forbidden');
    expectProblem(await client.get('/v1/keys'), 403, 'forbidden');
    expectProblem(await client.delete(`/v1/keys/${keyId}`), 403, 'forbidden');
  });
});

describe('credentials', () => {
  test('an expired key is 401', async () => {
    const { client, keyId } = await newAgent(service, { expires_at: SOON() });
    expectOk(await client.get('/v1/me'));
    await service.sql`update keys set expires_at = clock_timestamp() where key_id = ${uuidOf(keyId)}`;
    const answer = await client.get('/v1/me');
    expectProblem(answer, 401, 'unauthenticated');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('no, a malformed, an unknown and a revoked credential are one 401 to the byte', async () => {
    const { token, id } = await makeKey(service.operator, { principal: 'gone', roles: ['auditor'] });
    await service.operator.delete(`/v1/keys/${id}`);
    const headers = [
      {},
      { authorization: '' },
      { authorization: 'Bearer' },
      { authorization: 'Bearer ' },
      { authorization: service.tokens.OPERATOR },
      { authorization: `Basic ${service.tokens.OPERATOR}` },
      { authorization: `Bearer ${service.tokens.OPERATOR} x` },
      { authorization: `Bearer ${service.tokens.OPERATOR},` },
      { authorization: `Bearer "${service.tokens.OPERATOR}"` },
      { authorization: `Bearer ${service.tokens.OPERATOR}0` },
      { authorization: `Bearer ${service.tokens.OPERATOR.toLowerCase()}` },
      { authorization: `Bearer ${token}` },
      { authorization: `Bearer ${'x'.repeat(8000)}` },
      { cookie: `session=${service.tokens.OPERATOR}` },
    ];
    const answers = [];
    for (const one of headers) answers.push(await service.anonymous.get('/v1/me', { headers: one as never }));
    for (const answer of answers) {
      expectProblem(answer, 401, 'unauthenticated');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    expect(new Set(answers.map(withoutRequestId)).size).toBe(1);
  });

  test('the scheme is read in any case, with any number of spaces', async () => {
    for (const scheme of ['bearer', 'BEARER', 'Bearer  ']) {
      const headers = { authorization: `${scheme} ${service.tokens.AGENT}` };
      expectOk(await service.anonymous.get('/v1/me', { headers }), { principal: 'agent-1' });
    }
  });
});

describe('GET /v1/keys', () => {
  test('lists the tenant’s keys newest first, revoked ones too, without secrets', async () => {
    const principal = newName('listed');
    const older = await makeKey(service.operator, { principal, roles: ['auditor'] });
    const newer = await makeKey(service.operator, { principal, roles: ['auditor'] });
    await service.operator.delete(`/v1/keys/${older.id}?reason=lost%20laptop`);
    const answer = await service.operator.get('/v1/keys');
    expectOk(answer, { next_cursor: null });
    const listed = answer.body.items.filter((key: { principal: string }) => key.principal === principal);
    expect(listed).toMatchObject([
      { id: newer.id, revoked_at: null, revoke_reason: null },
      { id: older.id, revoked_at: expect.stringMatching(/Z$/), revoke_reason: 'lost laptop' },
    ]);
    for (const item of answer.body.items) expect(item).not.toHaveProperty('key');
    expect(answer.text).not.toMatch(/aeg_|token|hash/);
  });
});

describe('DELETE /v1/keys/:id', () => {
  test('204 without a body, and the key is refused from then on; again is 204', async () => {
    const { client, keyId } = await newAgent(service);
    const answer = await service.operator.delete(`/v1/keys/${keyId}`);
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: '' });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expectProblem(await client.get('/v1/me'), 401, 'unauthenticated');
    expect((await service.operator.delete(`/v1/keys/${keyId}`)).status).toBe(204);
  });

  test.each([UNKNOWN_KEY, 'key_1', 'x', UNKNOWN_KEY.replace('key_', 'apr_'), UNKNOWN_KEY.toUpperCase()])(
    '%s is 404',
    async (id) => {
      expectProblem(await service.operator.delete(`/v1/keys/${id}`), 404, 'not_found');
    },
  );

  test.each(['reason=', 'reason=a&reason=b', 'why=x', `reason=${'x'.repeat(257)}`])(
    '?%s is 422',
    async (query) => {
      const { client, keyId } = await newAgent(service);
      expectProblem(await service.operator.delete(`/v1/keys/${keyId}?${query}`), 422, 'invalid_request');
      expectOk(await client.get('/v1/me'));
    },
  );
});

describe('the last operator key of a tenant', () => {
  test('is not revoked: 409, and it goes on working', async () => {
    const { body: me } = await service.operator.get('/v1/me');
    expectProblem(await service.operator.delete(`/v1/keys/${me.key_id}`), 409, 'last_operator_key');
    expectOk(await service.operator.get('/v1/me'));
  });

  test('expired and revoked ones do not count as another', async () => {
    const { body: me } = await service.operator.get('/v1/me');
    const expired = await newActor(service, ['operator'], { expires_at: SOON() });
    const revoked = await newActor(service, ['operator']);
    await service.sql`update keys set expires_at = clock_timestamp() where key_id = ${uuidOf(expired.keyId)}`;
    await service.operator.delete(`/v1/keys/${revoked.keyId}`);
    expectProblem(await service.operator.delete(`/v1/keys/${me.key_id}`), 409, 'last_operator_key');
  });

  test('two that revoke each other at once leave one', async () => {
    for (let round = 0; round < 2; round += 1) {
      const fresh = await startTestService();
      try {
        const { body: me } = await fresh.operator.get('/v1/me');
        const other = await newActor(fresh, ['operator']);
        const answers = await Promise.all([
          fresh.operator.delete(`/v1/keys/${other.keyId}`),
          other.client.delete(`/v1/keys/${me.key_id}`),
        ]);
        const statuses = answers.map((answer) => answer.status);
        expect(statuses.filter((status) => status === 204)).toHaveLength(1);
        expect([401, 409]).toContain(statuses.find((status) => status !== 204));
        const standing =
          await fresh.sql`select from keys where 'operator' = any(roles) and revoked_at is null`;
        expect(standing).toHaveLength(1);
      } finally {
        await fresh.close();
      }
    }
  });
});
