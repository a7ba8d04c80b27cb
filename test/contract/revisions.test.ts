import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiAnswer, ApiClient } from '../support/api_client.ts';
import { askApproved, authorize, makeKey, refund } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { expectOk, expectProblem, newActor, ROOMY, withoutRequestId } from './support.ts';

let service: TestService;
let operator: ApiClient;

beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
  operator = service.operator;
});
afterAll(() => service.close());
beforeEach(async () => {
  await putTool(operator, 'deploy', 'release', RELEASE);
  await putPolicies(operator, '');
});

const allow = (id: string) => `@id("${id}")
permit (principal is Aegis::Agent, action == Aegis::Action::"deploy.release", resource);`;

const current = async (client = operator) => (await client.get('/v1/policies')).body;
const history = async (client = operator) => (await client.get('/v1/policies/revisions')).body.items;
const activate = (revision: string, ifMatch?: string, client = operator): Promise<ApiAnswer> =>
  client.post(`/v1/policies/revisions/${revision}/activate`, undefined, {
    headers: ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` },
  });

describe('GET /v1/policies/revisions', () => {
  test('has every revision the tenant had, newest first, with who made it and why', async () => {
    const text = allow('first-of-all');
    const { body } = await operator.call('PUT', '/v1/policies', { text, note: 'for the launch' });
    const [newest, ...older] = await history();
    expect(newest).toEqual({
      revision: body.revision,
      note: 'for the launch',
      created_by: 'operator-1',
      created_at: expect.any(String),
      activated_at: body.activated_at,
      activated_by: 'operator-1',
      active: true,
    });
    expect(older.length).toBeGreaterThanOrEqual(2);
    expect(older.every(({ active }: { active: boolean }) => !active)).toBe(true);
    expect(older.at(-1)).toMatchObject({ created_by: null, activated_by: null, note: null });
  });

  test('is for operators, each of its own tenant', async () => {
    expectProblem(await service.agent.get('/v1/policies/revisions'), 403, 'forbidden');
    const other = await makeTenant('apart');
    expect(await history(other)).toHaveLength(1);
  });
});

describe('POST /v1/policies/revisions/:revision/activate', () => {
  test('goes back: policies, tools and permissions are those of then', async () => {
    await putPolicies(operator, allow('former'));
    const { revision } = await current();
    expectOk(await authorize(service.agent, release('web')), { decision: 'allow' });
    await putPolicies(operator, '');
    await operator.delete('/v1/tools/deploy/release');
    expectOk(await authorize(service.agent, release('web')), { decision: 'deny' });

    const answer = await activate(revision);
    expectOk(answer, { revision, activated_by: 'operator-1', tenant: { former: allow('former') } });
    expect(answer.headers.get('etag')).toBe(`"${revision}"`);
    expectOk(await authorize(service.agent, release('web')), {
      decision: 'allow',
      policy_revision: revision,
    });
    const [row] = (await history()).filter((item: { active: boolean }) => item.active);
    expect(row).toMatchObject({ revision, activated_at: answer.body.activated_at });
  });

  test('of the active one changes nothing and is no event', async () => {
    const before = await current();
    const count = () => service.sql`select count(*) from activations`;
    const events = await count();
    expectOk(await activate(before.revision), before);
    expect(await count()).toEqual(events);
  });

  test('honours If-Match', async () => {
    const first = await current();
    await putPolicies(operator, allow('later'));
    expectProblem(await activate(first.revision, first.revision), 412, 'stale_version');
    expectOk(await activate(first.revision, (await current()).revision), { revision: first.revision });
  });

  test('of one that is missing or another tenant’s is the same 404', async () => {
    const other = await makeTenant('foreign');
    await putTool(other, 'deploy', 'release', RELEASE);
    await putPolicies(other, allow('theirs'));
    const foreign = await activate((await current(other)).revision);
    const missing = await activate('0'.repeat(64));
    expectProblem(foreign, 404, 'not_found');
    expectProblem(missing, 404, 'not_found');
    expect(withoutRequestId(foreign)).toBe(withoutRequestId(missing));
    for (const text of ['latest', 'A'.repeat(64), '%00']) {
      expectProblem(await activate(text), 404, 'not_found');
    }
  });

  test('examines what was approved under the other rules', async () => {
    const id = await askApproved(service.agent, service.approver, refund(9000));
    const { revision } = await current();
    await putPolicies(
      operator,
      `@id("no-refunds") forbid (principal, action == Aegis::Action::"stripe.refund", resource);`,
    );
    await activate(revision);
    expectOk(await service.agent.post(`/v1/approvals/${id}/consume`), { status: 'consumed' });
  });
});

describe('two operators at once', () => {
  test('who each name what they read: one changes it, the other is told', async () => {
    const { revision } = await current();
    const second = await newActor(service, ['operator']);
    await putPolicies(operator, allow('newer'));
    const newer = (await current()).revision;
    const answers = await Promise.all([
      activate(revision, newer),
      second.client.call(
        'PUT',
        '/v1/policies',
        { text: allow('other') },
        { headers: { 'if-match': `"${newer}"` } },
      ),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412]);
    const [won] = answers.filter(({ status }) => status === 200);
    expect((await current()).revision).toBe(won?.body.revision);
  });

  test('who change different things without reading lose neither', async () => {
    const changes = [
      operator.call('PUT', '/v1/policies', { text: allow('both') }),
      operator.call('PUT', '/v1/tools/parallel/one', { mutates_state: true }),
      operator.call('PUT', '/v1/tool-permissions', {
        items: [{ pattern: 'parallel.*', permission: 'deny' }],
      }),
    ];
    const answers = await Promise.all(changes);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(Object.keys((await current()).tenant)).toEqual(['both']);
    const tools = (await operator.get('/v1/tools')).body.items;
    const actions = tools.filter(({ tool }: { tool: string }) => tool === 'parallel');
    expect(actions.map(({ action }: { action: string }) => action)).toEqual(['one']);
    expectOk(await operator.get('/v1/tool-permissions'), {
      items: [{ pattern: 'parallel.*', permission: 'deny' }],
    });
  });
});

test('revisions are never changed: one that comes again is the row it was', async () => {
  await operator.call('PUT', '/v1/policies', { text: allow('again'), note: 'first time' });
  await putPolicies(operator, '');
  await operator.call('PUT', '/v1/policies', { text: allow('again'), note: 'second time' });
  const [active] = (await history()).filter((item: { active: boolean }) => item.active);
  expect(active.note).toBe('first time');
  expect(Date.parse(active.activated_at)).toBeGreaterThan(Date.parse(active.created_at));
});

test('a tenant’s policies, tools and permissions decide for it alone', async () => {
  const [one, two] = [await makeTenant('rules-one'), await makeTenant('rules-two')];
  await putTool(one, 'deploy', 'release', RELEASE);
  await putPolicies(one, allow('mine'));
  const agentOf = async (client: ApiClient) =>
    service.as((await makeKey(client, { principal: 'agent-1', roles: ['agent'] })).token);
  const [ours, theirs] = [await agentOf(one), await agentOf(two)];
  expectOk(await authorize(ours, release('web')), { decision: 'allow' });
  expectOk(await authorize(theirs, release('web')), { decision: 'deny', determining_policies: [] });
  expectOk(await two.get('/v1/policies'), { tenant: {} });
  const refused = await two.call('PUT', '/v1/policies', { text: allow('theirs') });
  expectProblem(refused, 422, 'policy_invalid');
  await two.call('PUT', '/v1/tool-permissions', { items: [{ pattern: '*', permission: 'deny' }] });
  expectOk(await authorize(ours, release('web')), { decision: 'allow' });
});

/** A tenant's operator. */
async function makeTenant(tenantId: string): Promise<ApiClient> {
  await service.sql`update keys set roles = '{operator,platform}'
    where principal = 'operator-1' and tenant_id = 'default'`;
  const made = await operator.post('/v1/tenants', { tenant_id: tenantId });
  return service.as(made.body.operator_key.key);
}
