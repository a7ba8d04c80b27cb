import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ROOMY } from '../contract/support.ts';
import type { ApiClient } from '../support/api_client.ts';
import { authorize, refund } from '../support/calls.ts';
import { copyPolicies, type PolicyFolder } from '../support/policies.ts';
import { putPolicies, putTool, RELEASE } from '../support/rules.ts';
import { makeFolder, startServiceProcess } from '../support/service_process.ts';
import { createTestDatabase } from '../support/test_database.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// The policy folder while the service runs, and when it starts again.

const LIMIT = 'context.parameters.amount <= 5000';
const RAISED = { 'amount <= 5000': 'amount <= 50000', 'amount > 5000': 'amount > 50000' };

let folder: PolicyFolder;
let service: TestService;
let stripe: string;
let starter: string;

beforeAll(async () => {
  folder = copyPolicies('stripe.cedar', {});
  stripe = join(folder.path, 'stripe.cedar');
  starter = readFileSync(stripe, 'utf8');
  service = await startTestService({ env: { ...ROOMY, AEGIS_POLICY_DIR: folder.path } });
});
afterAll(async () => {
  await service.close();
  folder.remove();
});

function replace(text: string, replaced: Record<string, string>): string {
  return Object.entries(replaced).reduce((result, [from, to]) => result.replace(from, to), text);
}

const decide = async (client: ApiClient = service.agent, amount = 9000): Promise<string> =>
  (await authorize(client, refund(amount))).body.decision;
const ready = async (of: TestService = service) => (await of.anonymous.get('/readyz')).body;
const untilDecides = (decision: string) =>
  vi.waitFor(async () => expect(await decide()).toBe(decision), { timeout: 15_000, interval: 100 });
const untilReady = (members: object) =>
  vi.waitFor(async () => expect(await ready()).toMatchObject(members), { timeout: 15_000, interval: 100 });

beforeEach(async () => {
  service.logged.length = 0;
  writeFileSync(stripe, starter);
  await untilDecides('require_approval');
  await untilReady({ policy_problem: null });
});

describe('a policy folder that changes', () => {
  test('decides without a restart, as a revision of nobody', async () => {
    expect(starter).toContain(LIMIT);
    writeFileSync(stripe, replace(starter, RAISED));
    await untilDecides('allow');
    const { body } = await service.operator.get('/v1/policies');
    expect(body).toMatchObject({ activated_by: null, revision: (await ready()).policy_revision });
  });

  test('back to what it was decides so again', async () => {
    writeFileSync(stripe, replace(starter, RAISED));
    await untilDecides('allow');
    writeFileSync(stripe, starter);
    await untilDecides('require_approval');
  });

  test('in its tools alone is seen as well', async () => {
    const path = join(folder.path, 'tools/lamp.json');
    writeFileSync(path, '{"tool": "lamp", "operations": {"on": {"mutates_state": true}}}');
    const listed = async () => JSON.stringify((await service.operator.get('/v1/tools')).body);
    await vi.waitFor(async () => expect(await listed()).toContain('"lamp"'), { timeout: 15_000 });
    rmSync(path);
    await vi.waitFor(async () => expect(await listed()).not.toContain('"lamp"'), { timeout: 15_000 });
  });

  test('to one that is refused changes nothing, and log and /readyz say why, with file and line', async () => {
    const before = await ready();
    writeFileSync(stripe, starter.replace(LIMIT, 'context.parameters.amout <= 5000'));
    await untilReady({
      status: 'ready',
      policy_revision: before.policy_revision,
      policy_problem: expect.stringMatching(/former rules decide: stripe\.cedar:\d+:\d+: policy `.*amout/s),
    });
    expect(await decide()).toBe('require_approval');
    expect(service.logged).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringMatching(/folder was not taken/) }),
    );
    writeFileSync(stripe, starter);
    await untilReady({ policy_problem: null });
  });

  test('keeps what is each tenant’s own', async () => {
    await putTool(service.operator, 'deploy', 'release', RELEASE);
    await putPolicies(
      service.operator,
      '@id("own") permit (principal is Aegis::Agent, action == Aegis::Action::"deploy.release", resource);',
    );
    writeFileSync(stripe, replace(starter, RAISED));
    await untilDecides('allow');
    const { body } = await service.operator.get('/v1/policies');
    expect(Object.keys(body.tenant)).toEqual(['own']);
    await putPolicies(service.operator, '');
    expect(await decide()).toBe('allow');
  });

  test('to one that a tenant’s own policies do not go with leaves that tenant’s as they are', async () => {
    await putPolicies(
      service.operator,
      '@id("mine") forbid (principal, action == Aegis::Action::"files.write", resource);',
    );
    const before = await ready();
    const mine =
      '\n@id("mine")\n@reason("x")\nforbid (principal, action == Aegis::Action::"shell.exec", resource);\n';
    writeFileSync(stripe, starter + mine);
    await untilReady({
      policy_revision: before.policy_revision,
      policy_problem: expect.stringMatching(/own rules of tenants \(1\)/),
    });
    expect(service.logged).toContainEqual(
      expect.objectContaining({
        level: 'error',
        fields: { tenant_id: 'default', problems: [expect.stringMatching(/`mine`/)] },
      }),
    );
    // The operator mends it, upon the folder's new rules.
    await putPolicies(service.operator, '');
    const { body } = await service.operator.get('/v1/policies');
    expect(Object.keys(body.base)).toContain('mine');
    await untilReady({ policy_revision: body.revision, policy_problem: null });
  });
});

describe('a folder in which something is missing', () => {
  const EXTRA = '@id("extra") forbid (principal, action == Aegis::Action::"stripe.refund", resource);';
  const extra = () => join(folder.path, 'extra.cedar');
  const DROPPED = expect.objectContaining({
    level: 'warn',
    fields: expect.objectContaining({ dropped: ['extra'] }),
  });

  beforeEach(async () => {
    writeFileSync(extra(), EXTRA);
    await untilDecides('deny');
  });
  afterEach(() => rmSync(extra(), { force: true }));

  test('for as long as a copy takes is not put in force', async () => {
    const lamp = join(folder.path, 'tools/lamp.json');
    const decided = new Set<string>();
    rmSync(extra());
    // Longer than the quiet after which the folder is read: the pause of a copy is what is tested.
    await pause(700);
    writeFileSync(extra(), EXTRA);
    writeFileSync(lamp, '{"tool": "lamp", "operations": {"on": {"mutates_state": true}}}');
    const isTaken = async () => {
      decided.add(await decide());
      return JSON.stringify((await service.operator.get('/v1/tools')).body).includes('"lamp"');
    };
    await expect.poll(isTaken, { timeout: 20_000, interval: 20 }).toBe(true);
    rmSync(lamp);
    expect([...decided]).toEqual(['deny']);
    expect(service.logged).not.toContainEqual(DROPPED);
  });

  test('for good is put in force, and the log names the policies that no longer decide', async () => {
    service.logged.length = 0;
    rmSync(extra());
    await untilDecides('require_approval');
    expect(service.logged).toContainEqual(DROPPED);
  });
});

describe('an operator who goes back to a former revision', () => {
  const operator = () => service.operator;
  const activate = (revision: string) => operator().post(`/v1/policies/revisions/${revision}/activate`);
  const own = (id: string) =>
    `@id("${id}") permit (principal is Aegis::Agent, action == Aegis::Action::"deploy.release", resource);`;
  const added = (id: string) =>
    `\n@id("${id}") forbid (principal, action == Aegis::Action::"stripe.refund", resource);\n`;

  beforeEach(() => putTool(operator(), 'deploy', 'release', RELEASE));
  afterEach(() => putPolicies(operator(), ''));

  test('has its own rules of then, and no base forbid that was added since is undone, now or later', async () => {
    const former = (await putPolicies(operator(), own('of-then'))).body.revision;
    await putPolicies(operator(), '');
    writeFileSync(stripe, starter + added('added-since'));
    await untilDecides('deny');

    const { status, body } = await activate(former);

    expect(status).toBe(200);
    expect(body.revision).not.toBe(former);
    expect(Object.keys(body.base)).toContain('added-since');
    expect(Object.keys(body.tenant)).toEqual(['of-then']);
    expect(await decide()).toBe('deny');
    await putPolicies(operator(), own('after'));
    expect(await decide()).toBe('deny');
    const replica = await startTestService({
      databaseUrl: service.databaseUrl,
      env: { AEGIS_POLICY_DIR: folder.path },
    });
    expect(await decide(replica.as(service.tokens.AGENT))).toBe('deny');
    await replica.close();
  });

  test('whose rules do not go with the base in force is told why, and nothing changes', async () => {
    const former = (await putPolicies(operator(), own('taken'))).body.revision;
    await putPolicies(operator(), '');
    writeFileSync(stripe, starter + added('taken'));
    await untilDecides('deny');
    const before = (await operator().get('/v1/policies')).body;

    const refused = await activate(former);

    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'policy_invalid', errors: [{ policy_id: 'taken' }] },
    });
    expect((await operator().get('/v1/policies')).body).toEqual(before);
  });
});

describe('a service that starts on a database with rules', () => {
  const startAgain = (path: string) =>
    startTestService({ databaseUrl: service.databaseUrl, env: { ...ROOMY, AEGIS_POLICY_DIR: path } });

  test('with the folder of before does not take back what was activated since, and says what to do', async () => {
    const stale = copyPolicies('stripe.cedar', {});
    writeFileSync(stripe, replace(starter, RAISED));
    await untilDecides('allow');
    const replica = await startAgain(stale.path);
    try {
      expect(await decide()).toBe('allow');
      expect(await decide(replica.as(service.tokens.AGENT))).toBe('allow');
      expect(replica.logged).toContainEqual(
        expect.objectContaining({ level: 'warn', message: expect.stringMatching(/send SIGHUP/) }),
      );
      expect(await ready(replica)).toMatchObject({ status: 'ready', policy_problem: null });
    } finally {
      await replica.close();
      stale.remove();
    }
  });

  test('whose version reads rules otherwise lets a tenant that the folder does not go with decide by its own', async () => {
    const own = copyPolicies('stripe.cedar', {});
    const first = await startTestService({ env: { AEGIS_POLICY_DIR: own.path } });
    const mine = '@id("mine") forbid (principal, action == Aegis::Action::"shell.exec", resource);';
    await putPolicies(first.operator, mine);
    // Another version gave these rules another digest.
    await first.sql`
      insert into revisions (tenant_id, revision, base_digest, policies, tools, permissions)
      select tenant_id, ${'0'.repeat(64)}, base_digest, policies, tools, permissions
      from revisions r where r.revision = (select active_revision from tenants)`;
    await first.sql`update tenants set active_revision = ${'0'.repeat(64)}`;
    writeFileSync(join(own.path, 'mine.cedar'), mine);
    const replica = await startTestService({
      databaseUrl: first.databaseUrl,
      env: { AEGIS_POLICY_DIR: own.path },
    });
    try {
      expect(await decide(replica.as(first.tokens.AGENT))).toBe('require_approval');
      expect(await ready(replica)).toMatchObject({
        status: 'ready',
        policy_problem: expect.stringMatching(/own rules of tenants \(1\)/),
      });
    } finally {
      await replica.close();
      await first.close();
      own.remove();
    }
  });

  test('with a folder that is refused goes on with the rules that are stored, and says so', async () => {
    const broken = copyPolicies('stripe.cedar', { [LIMIT]: 'context.parameters.amout <= 5000' });
    const replica = await startAgain(broken.path);
    try {
      expect(await decide(replica.as(service.tokens.AGENT))).toBe('require_approval');
      expect(await ready(replica)).toMatchObject({ policy_problem: expect.stringMatching(/amout/) });
      expect(replica.logged).toContainEqual(expect.objectContaining({ level: 'error' }));
    } finally {
      await replica.close();
      broken.remove();
    }
  });

  test('does not start with one where nothing is stored', async () => {
    const broken = copyPolicies('stripe.cedar', { [LIMIT]: 'context.parameters.amout <= 5000' });
    await expect(startTestService({ env: { AEGIS_POLICY_DIR: broken.path } })).rejects.toThrow(
      /^stripe\.cedar:\d+:\d+: policy `.*amout/s,
    );
    broken.remove();
  });

  test('gives a tenant of a database that kept no rules those of the folder', async () => {
    await service.sql`delete from activations`;
    await service.sql`delete from revisions`;
    await service.sql`delete from base_rules`;
    await service.sql`update tenants set active_revision = ${'0'.repeat(64)}`;
    const replica = await startAgain(folder.path);
    try {
      expect(await decide(replica.as(service.tokens.AGENT))).toBe('require_approval');
      const history = await replica.as(service.tokens.OPERATOR).get('/v1/policies/revisions');
      expect(history.body.items).toMatchObject([{ active: true, created_by: null }]);
    } finally {
      await replica.close();
    }
  });
});

test('SIGHUP puts the folder in force, even one that was before', async () => {
  const database = await createTestDatabase();
  const [own, data] = [copyPolicies('stripe.cedar', {}), makeFolder()];
  const process = await startServiceProcess({
    DATABASE_URL: database.url,
    AEGIS_DATA_DIR: data.path,
    AEGIS_POLICY_DIR: own.path,
  });
  const raised = copyPolicies('stripe.cedar', RAISED);
  const other = await startTestService({
    databaseUrl: database.url,
    env: { AEGIS_POLICY_DIR: raised.path },
  });
  try {
    const agent = process.as(process.tokens?.AGENT ?? '');
    expect(await decide(agent)).toBe('allow');
    process.signal('SIGHUP');
    await vi.waitFor(async () => expect(await decide(agent)).toBe('require_approval'), {
      timeout: 15_000,
    });
    expect(await decide(other.as(process.tokens?.AGENT ?? ''))).toBe('require_approval');
  } finally {
    await other.close();
    await process.end('SIGTERM');
    for (const path of [own, raised, data]) path.remove();
    await database.drop();
  }
});
