import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api_client.ts';
import { ask, authorize, refund } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { expectOk, expectProblem, newActor, ROOMY } from './support.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
});
afterAll(() => service.close());
beforeEach(() => putPolicies(service.operator, ''));

const put = (name: string, body: object, ifMatch?: string): Promise<ApiAnswer> =>
  service.operator.call(
    'PUT',
    `/v1/tools/${name}`,
    body,
    ifMatch ? { headers: { 'if-match': ifMatch } } : {},
  );
const remove = (name: string): Promise<ApiAnswer> => service.operator.delete(`/v1/tools/${name}`);
const list = async () => (await service.operator.get('/v1/tools')).body.items;
const find = async (tool: string, action: string) =>
  (await list()).find((one: { tool: string; action: string }) => one.tool === tool && one.action === action);

const FULL = {
  mutates_state: true,
  idempotent: true,
  destructive: false,
  requires_approval: true,
  permission: 'ask',
  aliases: ['ops/ship'],
  parameters_schema: {
    type: 'object',
    properties: {
      kind: { type: 'string' },
      path: { type: 'string' },
      host: { type: 'string' },
      token: { type: 'string' },
      command: { type: 'string' },
    },
    required: ['kind'],
  },
  facts_by: { parameter: 'kind', values: { look: { mutates_state: false }, wipe: { destructive: true } } },
  secret_parameters: ['token'],
  path_parameters: ['path'],
  host_parameters: ['host'],
  workspace_root: '/srv/work',
  command_parameter: 'command',
};

describe('PUT /v1/tools/:tool/:action', () => {
  test('registers an operation, and answers it whole with the revision it is part of', async () => {
    const answer = await put('full/everything', FULL);
    const { revision, ...registered } = answer.body;
    expectOk(answer, { tool: 'full', action: 'everything', base: false, argv_parameter: null, ...FULL });
    expect(answer.headers.get('etag')).toBe(`"${revision}"`);
    expect((await service.operator.get('/v1/policies')).body.revision).toBe(revision);
    expect(await find('full', 'everything')).toEqual(registered);
  });

  test('takes what is left out for false, empty or null', async () => {
    expectOk(await put('plain/do', { mutates_state: false }), {
      mutates_state: false,
      idempotent: false,
      destructive: false,
      requires_approval: false,
      permission: null,
      aliases: [],
      parameters_schema: null,
      facts_by: null,
      secret_parameters: [],
      command_parameter: null,
    });
  });

  test('replaces the registration there was, under whatever spelling of its names', async () => {
    await put('Crane/LIFT', { mutates_state: true, idempotent: true });
    expectOk(await put('%63rane/%20lift', { mutates_state: false }), {
      tool: 'crane',
      action: 'lift',
      mutates_state: false,
      idempotent: false,
    });
    expect((await list()).filter(({ tool }: { tool: string }) => tool === 'crane')).toHaveLength(1);
  });

  test('lets a policy read the parameters that the schema declares, and no others', async () => {
    await putTool(service.operator, 'deploy', 'release', RELEASE);
    const when = (condition: string) => `@id("deploy-web")
permit (principal is Aegis::Agent, action == Aegis::Action::"deploy.release", resource)
when { ${condition} };`;
    await putPolicies(service.operator, when('context.parameters.service == "web"'));
    expectOk(await authorize(service.agent, release('web')), { decision: 'allow' });
    expectOk(await authorize(service.agent, release('db')), { decision: 'deny' });
    expectOk(await authorize(service.agent, release('web', { more: 1 })), {
      decision: 'deny',
      denial: { by: 'parameters' },
    });
    const unknown = { text: when('context.parameters.servise == "web"') };
    const refused = await service.operator.call('PUT', '/v1/policies', unknown);
    expectProblem(refused, 422, 'policy_invalid');
    expect(refused.body.errors[0]).toMatchObject({ policy_id: 'deploy-web', line: 3 });
  });

  test('is refused while a policy reads what it would take away, and names the policy', async () => {
    await putTool(service.operator, 'deploy', 'release', RELEASE);
    await putPolicies(
      service.operator,
      `@id("reads-service")
permit (principal is Aegis::Agent, action == Aegis::Action::"deploy.release", resource)
when { context.parameters.service == "web" };`,
    );
    const before = await find('deploy', 'release');
    const answer = await put('deploy/release', { mutates_state: true });
    expectProblem(answer, 422, 'policy_invalid');
    const named = answer.body.errors.map((error: { policy_id: string }) => error.policy_id);
    expect(new Set(named)).toEqual(new Set(['reads-service']));
    expect(await find('deploy', 'release')).toEqual(before);
    expectProblem(await remove('deploy/release'), 422, 'policy_invalid');
    await putPolicies(service.operator, '');
    expect((await remove('deploy/release')).status).toBe(204);
  });

  test('decides by the new facts from then on', async () => {
    await put('lamp/on', { mutates_state: false, idempotent: true });
    await putPolicies(
      service.operator,
      `@id("reads-allowed")
permit (principal is Aegis::Agent, action in Aegis::Action::"read", resource);`,
    );
    const call = { tool: 'lamp', action: 'on', mutates_state: false, parameters: {} };
    expectOk(await authorize(service.agent, call), { decision: 'allow' });
    await put('lamp/on', { mutates_state: true });
    expectOk(await authorize(service.agent, call), { decision: 'deny' });
  });

  test.each([
    ['no facts at all', {}, '/mutates_state'],
    ['an unknown member', { mutates_state: true, nonsense: 1 }, '/nonsense'],
    ['an unknown permission', { mutates_state: true, permission: 'never' }, '/permission'],
    [
      'an unknown fact of a value',
      { mutates_state: true, facts_by: { parameter: 'a', values: { b: { c: true } } } },
      '/facts_by/values/b/c',
    ],
    ['a schema that is none', { mutates_state: true, parameters_schema: [] }, '/parameters_schema'],
  ])('%s is 422', async (_, body, pointer) => {
    const answer = await put('wrong/shape', body);
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors).toContainEqual({ pointer, reason: expect.any(String) });
  });

  const ofProperties = (properties: object, more: object = {}) => ({
    mutates_state: true,
    parameters_schema: { type: 'object', properties },
    ...more,
  });
  test.each([
    ['destroys and changes nothing', { mutates_state: false, destructive: true }],
    ['has a schema of another type', { mutates_state: true, parameters_schema: { type: 'array' } }],
    ['has a command that it does not name', ofProperties({ command: { type: 'string' } })],
    ['names a command that is none', ofProperties({ a: { type: 'number' } }, { command_parameter: 'a' })],
    ['has an alias that is no name', { mutates_state: true, aliases: ['just-one'] }],
    ['has an alias that is taken', { mutates_state: true, aliases: ['stripe/refund'] }],
    ['refers elsewhere', ofProperties({ a: { $ref: 'https://example.com/a.json' } })],
    ['has a NUL in a text', ofProperties({ a: { type: 'string', description: 'a\0b' } })],
    ['has a pattern that backtracks', ofProperties({ a: { type: 'string', pattern: '(a)\\1' } })],
  ])('a registration that %s is 422 with pointers', async (_, body) => {
    const before = await list();
    const answer = await put('wrong/tool', body);
    expectProblem(answer, 422, 'tool_invalid');
    expect(answer.body.errors.length).toBeGreaterThan(0);
    for (const error of answer.body.errors) {
      expect(error).toEqual({ pointer: expect.any(String), reason: expect.stringMatching(/./) });
    }
    expect(await list()).toEqual(before);
  });

  test.each(['a%00b/c', 'a/b%E2%80%AEc', 'a%25zz/b', `${'a'.repeat(129)}/b`])(
    'no tool has the name %s',
    async (name) => {
      expectProblem(await put(name, { mutates_state: true }), 422, 'tool_invalid');
      expectProblem(await remove(name), 404, 'not_found');
    },
  );

  test('honours If-Match', async () => {
    const { revision } = (await put('gate/open', { mutates_state: true })).body;
    expectOk(await put('gate/open', { mutates_state: true, idempotent: true }, `"${revision}"`));
    expectProblem(await put('gate/open', { mutates_state: false }, `"${revision}"`), 412, 'stale_version');
  });

  test('is for operators', async () => {
    const auditor = await newActor(service, ['auditor']);
    for (const client of [service.agent, service.approver, auditor.client]) {
      expectProblem(await client.get('/v1/tools'), 403, 'forbidden');
      expectProblem(await client.call('PUT', '/v1/tools/a/b', { mutates_state: true }), 403, 'forbidden');
      expectProblem(await client.delete('/v1/tools/stripe/refund'), 403, 'forbidden');
    }
  });
});

describe('a base tool', () => {
  test('is listed with its facts', async () => {
    expect(await find('stripe', 'refund')).toMatchObject({
      base: true,
      mutates_state: true,
      idempotent: false,
      requires_approval: false,
      parameters_schema: { type: 'object', required: ['amount', 'currency'] },
    });
    expect(await find('crm', 'read_customer')).toMatchObject({ mutates_state: false, idempotent: true });
  });

  test('can be tightened, keeps what is not said, and decides by it', async () => {
    expectOk(await authorize(service.agent, refund(100)), { decision: 'allow' });
    expectOk(await put('stripe/refund', { mutates_state: true, permission: 'deny' }), {
      base: true,
      permission: 'deny',
      parameters_schema: { required: ['amount', 'currency'] },
    });
    expectOk(await authorize(service.agent, refund(100)), { decision: 'deny' });
    expectOk(await put('stripe/refund', { mutates_state: true }), { base: true, permission: null });
    expectOk(await authorize(service.agent, refund(100)), { decision: 'allow' });
  });

  test('can have more of its parameters secret: they are shown to nobody else, and to policy as before', async () => {
    const own = { mutates_state: true, secret_parameters: ['memo'] };
    expectOk(await put('stripe/refund', own), { base: true, secret_parameters: ['memo'] });
    expect(await find('stripe', 'refund')).toMatchObject({ secret_parameters: ['memo'] });
    const call = { ...refund(9000), parameters: { amount: 9000, currency: 'usd', memo: 'my own' } };
    const shown = await service.approver.get(`/v1/approvals/${await ask(service.agent, call)}`);
    expect(shown.text).toContain('"memo"');
    expect(shown.text).not.toContain('my own');
    expectOk(await put('stripe/refund', { mutates_state: true }), { secret_parameters: [] });
    const undeclared = { mutates_state: true, secret_parameters: ['memos'] };
    expectProblem(await put('stripe/refund', undeclared), 422, 'tool_invalid');
  });

  test.each([
    ['stripe/refund', { mutates_state: false }, /send `mutates_state` as the base has it/],
    ['stripe/refund', { mutates_state: true, idempotent: true }, /`idempotent`/],
    ['stripe/refund', { mutates_state: true, permission: 'allow' }, /`permission`/],
    ['stripe/refund', { mutates_state: true, parameters_schema: { type: 'object' } }, /`parameters_schema`/],
    ['stripe/refund', { mutates_state: true, aliases: ['pay/back'] }, /`aliases`/],
    ['crm/delete_customer', { mutates_state: true, destructive: false }, /`destructive`/],
    ['STRIPE/Refund', { mutates_state: false }, /`mutates_state`/],
  ])('%s cannot be loosened by %j', async (name, body, detail) => {
    const before = await list();
    expectProblem(await put(name, body), 409, 'base_tool', { detail: expect.stringMatching(detail) });
    expect(await list()).toEqual(before);
  });

  test('cannot be deleted', async () => {
    expectProblem(await remove('stripe/refund'), 409, 'base_tool');
    expect(await find('stripe', 'refund')).toBeDefined();
  });
});

describe('DELETE /v1/tools/:tool/:action', () => {
  test('with If-Match takes away what was read, and nothing else', async () => {
    const before = await put('deploy/release', RELEASE);
    await put('deploy/release', { ...RELEASE, destructive: true });
    const stale = { headers: { 'if-match': before.headers.get('etag') ?? '' } };

    expectProblem(await service.operator.delete('/v1/tools/deploy/release', stale), 412, 'stale_version');
    expect(await find('deploy', 'release')).toMatchObject({ destructive: true });
  });

  test('takes a registration away: its calls are those of an unregistered tool', async () => {
    await put('lamp/off', { mutates_state: false });
    await putPolicies(
      service.operator,
      `@id("reads-allowed") permit (principal, action in Aegis::Action::"read", resource);`,
    );
    const call = { tool: 'lamp', action: 'off', mutates_state: false, parameters: {} };
    expectOk(await authorize(service.agent, call), { decision: 'allow' });
    const gone = await remove('Lamp/OFF');
    expect({ status: gone.status, text: gone.text }).toEqual({ status: 204, text: '' });
    expect(await find('lamp', 'off')).toBeUndefined();
    expectOk(await authorize(service.agent, call), { decision: 'deny' });
  });

  test('of what is not registered is 404', async () => {
    expectProblem(await remove('nobody/knows'), 404, 'not_found');
  });
});
