import { createHash } from 'node:crypto';
import { v7 as newUuid } from 'uuid';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { canonicalize } from '../../src/core/canonical_json.ts';
import { startTestService } from '../support/test_service.ts';
import { expectOk, expectProblem } from './support.ts';

const service = await startTestService();
const elsewhere = await startTestService({ databaseUrl: service.databaseUrl });
afterAll(async () => {
  await elsewhere.close();
  await service.close();
});
beforeEach(async () => {
  await service.sql`delete from exec_approvals`;
});

const PATH = '/v1/exec-approvals';
const read = () => service.operator.get(PATH);
const put = (document: unknown, more: object = {}) =>
  service.operator.call('PUT', PATH, { document, ...more });
const documentOf = (agents: object, defaults: object = {}) => ({ version: 1, defaults, agents });
const listOf = (...patterns: string[]) => ({ allowlist: patterns.map((pattern) => ({ pattern })) });
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('the document', () => {
  test('reads as empty, and has no hash, where nothing is stored', async () => {
    expect((await read()).body).toStrictEqual({ document: documentOf({}), hash: null });
  });

  test('that was put is read on every process, with ids and the hash of its canonical form', async () => {
    const sent = documentOf(
      { Main: { security: 'allowlist', ...listOf('/usr/bin/git') }, '*': listOf('~/bin/*') },
      { security: 'deny', ask: 'on-miss', ask_fallback: 'allowlist', auto_allow_skills: true },
    );

    const answer = await put(sent);

    expectOk(answer);
    const id = /^[0-9a-f-]{36}$/;
    expect(answer.body.document).toStrictEqual({
      ...sent,
      agents: {
        main: {
          security: 'allowlist',
          allowlist: [{ pattern: '/usr/bin/git', id: expect.stringMatching(id) }],
        },
        '*': { allowlist: [{ pattern: '~/bin/*', id: expect.stringMatching(id) }] },
      },
    });
    expect(answer.body.hash).toBe(sha256(canonicalize(answer.body.document)));
    const other = await elsewhere.as(service.tokens.OPERATOR).get(PATH);
    expect(other.body).toStrictEqual(answer.body);
  });

  test('keeps ids and usage that are sent back, and what is sent of the usage of new entries', async () => {
    const entry = {
      id: 'mine',
      pattern: '/usr/bin/jq',
      last_used_at: '2026-01-02T03:04:05.678Z',
      last_used_command: 'jq .',
      last_resolved_path: '/usr/bin/jq',
    };
    const first = await put(documentOf({ a: { allowlist: [entry] } }));
    expect(first.body.document.agents.a.allowlist).toStrictEqual([entry]);

    const changed = { ...entry, pattern: '/usr/bin/j*', last_used_command: 'another' };
    const second = await put(documentOf({ b: { allowlist: [changed, { pattern: '/usr/bin/wc' }] } }));

    expect(second.body.document.agents.b.allowlist[0]).toStrictEqual({ ...entry, pattern: '/usr/bin/j*' });
    expect(second.body.document.agents).not.toHaveProperty('a');
  });

  test('forgets the usage of entries that go', async () => {
    const entry = { id: 'mine', pattern: '/usr/bin/jq', last_used_at: '2026-01-02T03:04:05.678Z' };
    await put(documentOf({ a: { allowlist: [entry] } }));
    await put(documentOf({}));
    const { body } = await put(documentOf({ a: { allowlist: [{ id: 'mine', pattern: '/usr/bin/jq' }] } }));
    expect(body.document.agents.a.allowlist).toStrictEqual([{ id: 'mine', pattern: '/usr/bin/jq' }]);
  });

  test('masks secrets in what it is told of usage, and its hash has nothing of usage', async () => {
    const secret = `ghp_${'a1B2c3D4e5'.repeat(3)}F6g7H8`;
    const entry = { id: 'mine', pattern: '/usr/bin/curl' };
    const used = {
      ...entry,
      last_used_at: '2026-01-02T03:04:05.678Z',
      last_used_command: `curl -H 'Authorization: token ${secret}' https://api.github.com`,
    };
    const plain = await put(documentOf({ a: { allowlist: [entry] } }));
    await service.sql`delete from exec_approvals`;
    const answer = await put(documentOf({ a: { allowlist: [used] } }));
    expect(answer.text).not.toContain(secret);
    expect(answer.body.document.agents.a.allowlist[0].last_used_command).toMatch(/^curl -H/);
    expect(answer.body.hash).toBe(plain.body.hash);
  });
});

describe('`base_hash`', () => {
  test('lets only who saw the present document replace it', async () => {
    const first = await put(documentOf({}), { base_hash: null });
    expectOk(first);
    const second = await put(documentOf({ a: {} }), { base_hash: first.body.hash });
    expectOk(second);

    for (const base_hash of [first.body.hash, null, 'f'.repeat(64)]) {
      const answer = await put(documentOf({ b: {} }), { base_hash });
      expectProblem(answer, 409, 'base_hash_mismatch', { hash: second.body.hash });
    }
    expect((await read()).body).toStrictEqual(second.body);
  });

  test('of a document that is not there tells that nothing is', async () => {
    const answer = await put(documentOf({}), { base_hash: 'f'.repeat(64) });
    expectProblem(answer, 409, 'base_hash_mismatch', { hash: null });
    expect((await read()).body.hash).toBeNull();
  });

  test('left out replaces whatever is there', async () => {
    expectOk(await put(documentOf({ a: {} })));
    expectOk(await put(documentOf({ b: {} })));
    expect((await read()).body.document).toStrictEqual(documentOf({ b: {} }));
  });
});

describe('a document is refused, with pointers, and nothing changes:', () => {
  test.each<[what: string, document: unknown, pointer: string, reason?: RegExp]>([
    ['an unknown member', { ...documentOf({}), socket: {} }, '/document/socket', /not a known member/],
    ['an unknown setting', documentOf({}, { mode: 'x' }), '/document/defaults/mode', /not a known member/],
    [
      'an unknown member of an agent',
      documentOf({ a: { askFallback: 'deny' } }),
      '/document/agents/a/askFallback',
    ],
    [
      'an unknown member of an entry',
      documentOf({ a: { allowlist: [{ pattern: '/x', lastUsedAt: 1 }] } }),
      '/document/agents/a/allowlist/0/lastUsedAt',
    ],
    ['another version', { ...documentOf({}), version: 2 }, '/document/version'],
    ['an unknown value', documentOf({}, { security: 'none' }), '/document/defaults/security'],
    [
      'a fallback that runs what nobody answered',
      documentOf({ '*': { ask_fallback: 'full' } }),
      '/document/agents/*/ask_fallback',
      /would run the command when nobody answers/,
    ],
    ['a bare name', documentOf({ a: listOf('git') }), '/document/agents/a/allowlist/0/pattern', /bare name/],
    ['a relative path', documentOf({ a: listOf('bin/git') }), '/document/agents/a/allowlist/0/pattern'],
    ['an empty pattern', documentOf({ a: listOf('') }), '/document/agents/a/allowlist/0/pattern'],
    ['a name that no agent has', documentOf({ 'a b': {} }), '/document/agents/a b'],
    ['one agent in two cases', documentOf({ a: {}, A: {} }), '/document/agents/A'],
    [
      'an id twice',
      documentOf({
        a: {
          allowlist: [
            { id: 'x', pattern: '/x' },
            { id: 'x', pattern: '/y' },
          ],
        },
      }),
      '/document/agents/a/allowlist/1/id',
    ],
    [
      'an id of other characters',
      documentOf({ a: { allowlist: [{ id: 'x y', pattern: '/x' }] } }),
      '/document/agents/a/allowlist/0/id',
    ],
  ])('%s', async (_, document, pointer, reason = /./) => {
    const before = await put(documentOf({ kept: {} }));
    const answer = await put(document);
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors).toContainEqual({ pointer, reason: expect.stringMatching(reason) });
    expect((await read()).body).toStrictEqual(before.body);
  });
});

describe('suggestions', () => {
  const suggest = async () => (await service.operator.get(`${PATH}/suggestions`)).body;
  const DAY_MS = 24 * 60 * 60 * 1000;
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

  test('name the safe binaries that are not listed, and nothing is listed by it', async () => {
    const names = ['jq', 'grep', 'cut', 'sort', 'uniq', 'head', 'tail', 'tr', 'wc'];
    expect(await suggest()).toStrictEqual({
      safe_binaries: names.map((name) => `/usr/bin/${name}`),
      unused: [],
    });
    await put(documentOf({ a: listOf('/usr/bin/jq', '/usr/bin/wc') }));
    const { safe_binaries } = await suggest();
    expect(safe_binaries).toHaveLength(names.length - 2);
    expect(safe_binaries).not.toContain('/usr/bin/jq');
  });

  test('name entries unused for 90 days, the longest first: by last use, or by when they were added', async () => {
    const used = (days: number) => ({ last_used_at: daysAgo(days).toISOString() });
    const added = (days: number) => newUuid({ msecs: daysAgo(days).getTime() });
    const old = { id: 'old', pattern: '/x/old', ...used(91) };
    const never = { id: added(92), pattern: '/x/never' };
    const others = [
      { id: 'recent', pattern: '/x/recent', ...used(89) },
      { id: added(89), pattern: '/x/new' },
      { id: 'elsewhere', pattern: '/x/elsewhere' },
    ];
    await put(documentOf({ a: { allowlist: [old, ...others] }, '*': { allowlist: [never] } }));

    const { unused } = await suggest();

    expect(unused).toStrictEqual([
      { agent: '*', ...never, last_used_at: null, since: expect.any(String) },
      { agent: 'a', ...old, since: old.last_used_at },
    ]);
  });

  test('of an entry whose age is not known go by when the document was last changed', async () => {
    const entry = { id: 'elsewhere', pattern: '/x/elsewhere' };
    await put(documentOf({ a: { allowlist: [entry] } }));
    await service.sql`update exec_approvals set updated_at = clock_timestamp() - interval '91 days'`;
    expect((await suggest()).unused).toMatchObject([{ agent: 'a', ...entry, last_used_at: null }]);
  });
});

describe('exec approvals', () => {
  test.each(['agent', 'approver'] as const)('are not for a key with the role %s', async (who) => {
    expectProblem(await service[who].get(PATH), 403, 'forbidden');
    expectProblem(await service[who].get(`${PATH}/suggestions`), 403, 'forbidden');
    expectProblem(await service[who].call('PUT', PATH, { document: documentOf({}) }), 403, 'forbidden');
    expect((await read()).body.hash).toBeNull();
  });

  test('are the tenant’s own', async () => {
    await service.sql`update keys set roles = '{operator,platform}' where principal = 'operator-1'`;
    const made = await service.operator.post('/v1/tenants', { tenant_id: 'theirs' });
    const theirs = service.as(made.body.operator_key.key);
    expectOk(await put(documentOf({ a: {} })));
    expect((await theirs.get(PATH)).body.hash).toBeNull();
    expectOk(await theirs.call('PUT', PATH, { document: documentOf({ b: {} }) }));
    expect((await read()).body.document).toStrictEqual(documentOf({ a: {} }));
  });
});
