import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { APPROVAL_EVENT_TYPES } from '../../src/core/event_ports.ts';
import { makeKey } from '../support/calls.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { expectOk, expectProblem } from './support.ts';

const UNKNOWN_WEBHOOK = 'whk_01890a5d-ac96-774b-bcce-b302099a8057';
const UNKNOWN_DELIVERY = 'dlv_01890a5d-ac96-774b-bcce-b302099a8057';
/** Nothing listens on it, and nothing happens here that would be sent. */
const TARGET = { url: 'http://127.0.0.1:9/hook', events: ['approval.requested'] };

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ env: { AEGIS_WEBHOOK_ALLOW: '127.0.0.0/8' } });
});
afterAll(() => service.close());

async function create(body: object = TARGET): Promise<{ webhook_id: string; secret: string }> {
  const made = await service.operator.post('/v1/webhooks', body);
  expect(made.status, made.text).toBe(201);
  return made.body;
}

async function remove(id: string): Promise<void> {
  expect((await service.operator.delete(`/v1/webhooks/${id}`)).status).toBe(204);
}

describe('a webhook', () => {
  test('is made with a secret of Standard Webhooks, which is shown this once', async () => {
    const { webhook_id: id, secret } = await create();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]+={0,2}$/);
    const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
    expect(bytes.length).toBeGreaterThanOrEqual(24);
    expect(bytes.length).toBeLessThanOrEqual(64);
    const listed = await service.operator.get('/v1/webhooks');
    expectOk(listed, {
      items: [
        {
          webhook_id: id,
          ...TARGET,
          created_by: 'operator-1',
          disabled_at: null,
          former_secret_until: null,
        },
      ],
      next_cursor: null,
    });
    expect(listed.text).not.toContain(secret);
    expect(listed.text).not.toContain('secret"');
    await remove(id);
  });

  test('is stored with the url that is called, and with each event once', async () => {
    const { webhook_id: id } = await create({
      url: 'http://0x7f.1:80/a/../hook',
      events: ['approval.voided', 'approval.voided', 'approval.decided'],
    });
    const { body } = await service.operator.get('/v1/webhooks');
    expect(body.items[0]).toMatchObject({
      url: 'http://127.0.0.1/hook',
      events: ['approval.voided', 'approval.decided'],
    });
    await remove(id);
  });

  test('that was deleted is gone', async () => {
    const { webhook_id: id } = await create();
    await remove(id);
    const { operator } = service;
    const answers = [
      await operator.delete(`/v1/webhooks/${id}`),
      await operator.post(`/v1/webhooks/${id}/rotate`),
      await operator.get(`/v1/webhooks/${id}/deliveries`),
      await operator.post(`/v1/webhooks/${id}/deliveries/${UNKNOWN_DELIVERY}/redeliver`),
    ];
    for (const answer of answers) expectProblem(answer, 404, 'not_found');
    expect((await operator.get('/v1/webhooks')).body.items).toStrictEqual([]);
  });

  test('that was deleted leaves no secret behind', async () => {
    const { webhook_id: id } = await create();
    await service.operator.post(`/v1/webhooks/${id}/rotate`);
    await remove(id);
    const [row] = await service.sql`select to_jsonb(w)::text as text from webhooks w
      where webhook_id = ${id.slice('whk_'.length)}`;
    expect(row?.text).toContain(TARGET.url);
    expect(row?.text).not.toContain('whsec_');
  });

  test('that is not there, or whose id is none, is not found', async () => {
    for (const id of [UNKNOWN_WEBHOOK, 'whk_1', UNKNOWN_DELIVERY]) {
      expectProblem(await service.operator.post(`/v1/webhooks/${id}/rotate`), 404, 'not_found');
      expectProblem(await service.operator.get(`/v1/webhooks/${id}/deliveries`), 404, 'not_found');
    }
  });

  test('is one of at most twenty of its tenant, however many are made at once', async () => {
    const made = await Promise.all(
      Array.from({ length: 23 }, () => service.operator.post('/v1/webhooks', TARGET)),
    );
    const refused = made.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(3);
    for (const answer of refused) {
      expectProblem(answer, 422, 'invalid_request', { detail: expect.stringMatching(/at most 20 webhooks/) });
    }
    const pages: string[] = [];
    let cursor = '';
    do {
      const { body } = await service.operator.get(`/v1/webhooks?limit=7${cursor}`);
      pages.push(...body.items.map((item: { webhook_id: string }) => item.webhook_id));
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
    } while (cursor !== '');
    const ids = made.filter(({ status }) => status === 201).map(({ body }) => body.webhook_id);
    expect(pages.toSorted()).toStrictEqual(ids.toSorted());
    expect(pages).toStrictEqual(pages.toSorted().reverse());
    await Promise.all(ids.map(remove));
    await remove((await create()).webhook_id);
  });
});

describe('rotating', () => {
  test('gives another secret, shown this once, and lets the former sign for 24 hours', async () => {
    const { webhook_id: id, secret } = await create();
    const rotated = await service.operator.post(`/v1/webhooks/${id}/rotate`);
    expectOk(rotated, { webhook_id: id, ...TARGET });
    expect(rotated.body.secret).toMatch(/^whsec_/);
    expect(rotated.body.secret).not.toBe(secret);
    const hours = (Date.parse(rotated.body.former_secret_until) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThan(24.1);
    const { text } = await service.operator.get('/v1/webhooks');
    expect(text).not.toContain('whsec_');
    await service.sql`update webhooks set former_secret_until = clock_timestamp() where former_secret is not null`;
    const { body } = await service.operator.get('/v1/webhooks');
    expect(body.items[0].former_secret_until).toBeNull();
    await remove(id);
  });
});

describe('what cannot be made is refused', () => {
  test.each([
    ['no events', { ...TARGET, events: [] }, '/events', /at least one event/],
    ['an unknown event', { ...TARGET, events: ['approval.eaten'] }, '/events/0', /`approval\.requested`/],
    ['no url', { events: TARGET.events }, '/url', /required/],
    ['an empty url', { ...TARGET, url: '' }, '/url', /./],
    ['what is no url', { ...TARGET, url: 'hook' }, '/url', /is no url/],
    ['another scheme', { ...TARGET, url: 'file:///etc/passwd' }, '/url', /must begin with/],
    ['a user in the url', { ...TARGET, url: 'http://me@127.0.0.1/' }, '/url', /user or a password/],
    ['a password in the url', { ...TARGET, url: 'http://:pw@127.0.0.1/' }, '/url', /user or a password/],
    ['a fragment', { ...TARGET, url: 'http://127.0.0.1/#a' }, '/url', /fragment/],
    ['an empty fragment', { ...TARGET, url: 'http://127.0.0.1/#' }, '/url', /fragment/],
    ['a private address', { ...TARGET, url: 'http://10.1.2.3/' }, '/url', /AEGIS_WEBHOOK_ALLOW/],
    ['an unknown member', { ...TARGET, secret: 'whsec_AAAA' }, '/secret', /not a known member/],
    ['a long url', { ...TARGET, url: `http://127.0.0.1/${'a'.repeat(2048)}` }, '/url', /2048/],
  ])('%s', async (_what, body, pointer, reason) => {
    const answer = await service.operator.post('/v1/webhooks', body);
    expectProblem(answer, 422, 'invalid_request');
    const issue = answer.body.errors.find((one: { pointer: string }) => one.pointer === pointer);
    expect(issue?.reason).toMatch(reason);
    expect((await service.operator.get('/v1/webhooks')).body.items).toStrictEqual([]);
  });

  test('with every known event named', async () => {
    const { body } = await service.operator.post('/v1/webhooks', { ...TARGET, events: ['approval'] });
    for (const type of APPROVAL_EVENT_TYPES) expect(body.errors[0].reason).toContain(`\`${type}\``);
  });
});

test.each(['agent', 'approver', 'auditor'] as const)('the role %s may do none of it', async (role) => {
  const key = await makeKey(service.operator, { principal: `${role}-w`, roles: [role] });
  const client = service.as(key.token);
  const answers = [
    await client.post('/v1/webhooks', TARGET),
    await client.get('/v1/webhooks'),
    await client.delete(`/v1/webhooks/${UNKNOWN_WEBHOOK}`),
    await client.post(`/v1/webhooks/${UNKNOWN_WEBHOOK}/rotate`),
    await client.get(`/v1/webhooks/${UNKNOWN_WEBHOOK}/deliveries`),
    await client.post(`/v1/webhooks/${UNKNOWN_WEBHOOK}/deliveries/${UNKNOWN_DELIVERY}/redeliver`),
  ];
  for (const answer of answers) expectProblem(answer, 403, 'forbidden');
});

test('nothing that was logged here holds a secret', () => {
  expect(JSON.stringify(service.logged)).not.toContain('whsec_');
  expect(service.logged).toStrictEqual([]);
});
