import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  editedCall,
  expire,
  newAgent,
  newApprover,
  ROOMY,
  readApproval,
  UNKNOWN_APPROVAL,
} from '../contract/support.ts';
import { ask, askApproved, makeKey, refund } from '../support/calls.ts';
import { command } from '../support/commands.ts';
import { startTcpProxy } from '../support/tcp_proxy.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { type At, approvals, UNSAFE } from './approvals_support.ts';
import type { Ended } from './support.ts';

const WRONG_HASH = 'f'.repeat(64);

vi.setConfig({ testTimeout: 90_000 });

let service: TestService;
let at: At;
let second: At;
beforeAll(async () => {
  service = await startTestService({ env: { ...ROOMY, AEGIS_APPROVAL_ATTEMPT_LIMIT: '1000' } });
  at = { url: service.url, token: service.tokens.APPROVER };
  second = { url: service.url, token: service.tokens.APPROVER2 };
});
afterAll(() => service.close());

const statusOf = async (id: string) => (await readApproval(service.operator, id)).status;
const votesOf = async (id: string) => (await readApproval(service.operator, id)).votes;
const viewHashOf = async (id: string) => (await readApproval(service.operator, id)).review.view_hash;

/** Where a person is asked, who gives this answer. */
const asked = (answer: string | undefined): At => ({ ...at, ask: async () => answer });

function linesOf(text: string): string[] {
  return text.trimEnd().split('\n');
}

/** Fails unless it ended with this code, said nothing on stdout, and one or two lines without the key on stderr. */
function expectRefused(ended: Ended, code: number, line: RegExp): void {
  expect({ code: ended.code, stdout: ended.stdout }, ended.stderr).toEqual({ code, stdout: '' });
  expect(linesOf(ended.stderr).length, ended.stderr).toBeLessThanOrEqual(2);
  expect(ended.stderr).toMatch(line);
  expect(ended.stderr).not.toMatch(/^\s+at /m);
}

describe('aegis approvals show', () => {
  test('shows the text view as the service has it, how it stands beneath, and the hash of the view last', async () => {
    const id = await ask(service.agent, refund(200_000, { memo: 'twice' }));
    await service.approver.post(`/v1/approvals/${id}/approve`, { reason: 'seen\nby me' });
    const text = { headers: { accept: 'text/plain' } };
    const view = (await service.approver.get(`/v1/approvals/${id}/review`, text)).text;

    const { code, stdout, stderr } = await approvals(at, 'show', id);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.startsWith(view)).toBe(true);
    expect(linesOf(stdout.slice(view.length + 1))).toEqual([
      'How it stands',
      expect.stringMatching(/^status: pending, (29|30)m left, until 20/),
      'votes: 1 of 2',
      expect.stringMatching(/^- approver-1: approve, scope once, at 20\S+: "seen\\u\{a\}by me"$/),
      'still needed: 1 more vote, so that there is one each of finance, security',
      '',
      `view_hash: ${await viewHashOf(id)}`,
    ]);
    for (const line of linesOf(stdout)) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('says who decided, and no longer what is needed', async () => {
    const id = await ask(service.agent);
    await service.approver.post(`/v1/approvals/${id}/reject`, { reason: 'not today' });
    const { stdout } = await approvals(at, 'show', id);
    expect(stdout).toContain('\nstatus: rejected\nvotes: 0 of 1\n- approver-1: reject, scope once, at ');
    expect(stdout).toMatch(/\ndecided by: approver-1: "not today"\n\nview_hash: [0-9a-f]{64}\n$/);
    expect(stdout).not.toContain('still needed');
  });

  test('as JSON is the approval as the service answers it', async () => {
    const id = await ask(service.agent);
    const { stdout } = await approvals(at, 'show', id, '--json');
    expect(JSON.parse(stdout)).toEqual(await readApproval(service.approver, id));
  });

  test('lets no text act on the terminal, hide, reorder, or pass for a line of its own', async () => {
    const text = 'a\u001b[2J\u202eb\u200b\nview_hash: 0\nHow it stands\nstatus: approved';
    const id = await ask(service.agent, { ...refund(200_000, { memo: text }), resource: text });
    const zeroWidth = 'fine\u200b\n\nview_hash: 0';
    const voted = await service.approver.post(`/v1/approvals/${id}/approve`, { reason: zeroWidth });
    expect(voted.status).toBe(200);
    const { stdout } = await approvals(at, 'show', id);
    expect(stdout).not.toMatch(UNSAFE);
    const heads = linesOf(stdout).filter((line) => /^(view_hash|status|How)/.test(line));
    expect(heads.map((line) => line.split(/[ :]/)[0])).toEqual([
      'status',
      'view_hash',
      'How',
      'status',
      'view_hash',
    ]);
  });
});

describe('aegis approvals approve, with a person at the terminal', () => {
  test('shows the view, asks, and votes for exactly what was shown', async () => {
    const id = await ask(service.agent);
    const seen: string[] = [];
    const where: At = {
      ...at,
      ask: async (question, shown) => {
        seen.push(question, shown);
        return 'y';
      },
    };
    const { code, stdout } = await approvals(where, 'approve', id, '--reason', 'as agreed');

    expect(seen[0]).toBe('\nApprove exactly this? [y/N] ');
    expect(seen[1]).toContain('/parameters/amount: 9000');
    expect(seen[1]).toContain(`view_hash: ${await viewHashOf(id)}`);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${id}\\nstatus: approved, (29|30)m left`));
    const rows = await service.sql`select view_hash, reason from votes where approval_id = ${id.slice(4)}`;
    expect(rows).toEqual([{ view_hash: await viewHashOf(id), reason: 'as agreed' }]);
  });

  test.each([['n'], [''], ['yess'], ['no, yes'], [undefined]])(
    'takes %j for a no: 1, nothing voted',
    async (answer) => {
      const id = await ask(service.agent);
      const { code, stdout, stderr } = await approvals(asked(answer), 'approve', id);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/\nnothing was voted\n$/);
      expect(await votesOf(id)).toEqual([]);
    },
  );

  test('an edit by another between the view and the yes: 1, and nothing voted', async () => {
    const id = await ask(service.agent);
    const other = await newApprover(service);
    const where: At = {
      ...at,
      ask: async () => {
        const tool_call = await editedCall(other.client, id, { amount: 9_999 });
        expect((await other.client.post(`/v1/approvals/${id}/edit`, { tool_call })).status).toBe(200);
        return 'y';
      },
    };
    const { code, stdout, stderr } = await approvals(where, 'approve', id);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/\(stale_version\)\n$/);
    expect({ status: await statusOf(id), votes: await votesOf(id) }).toEqual({
      status: 'pending',
      votes: [],
    });
  });

  test('does not ask about what is decided already: 1', async () => {
    const id = await askApproved(service.agent, service.approver);
    const where: At = { ...at, ask: () => Promise.reject(new Error('asked')) };
    const { code, stderr } = await approvals(where, 'approve', id);
    expect(code).toBe(1);
    expect(stderr).toMatch(/\nthe approval is not pending but approved, so nothing was voted\n$/);
  });
});

describe('aegis approvals approve, in a script', () => {
  test('without saying what was seen is refused before anything is asked: 2', async () => {
    const id = await ask(service.agent);
    expectRefused(
      await approvals({ ...at, url: 'http://127.0.0.1:1' }, 'approve', id),
      2,
      /Give `--view-hash`/,
    );
    expect(await statusOf(id)).toBe('pending');
  });

  test('votes for the view whose hash it gives, and for no other', async () => {
    const id = await ask(service.agent);
    const wrong = await approvals(at, 'approve', id, '--view-hash', WRONG_HASH);
    expectRefused(wrong, 1, /\(view_hash_mismatch\)$/m);
    expect(await votesOf(id)).toEqual([]);
    const shown =
      linesOf((await approvals(at, 'show', id)).stdout)
        .at(-1)
        ?.replace('view_hash: ', '') ?? '';
    const { code, stdout, stderr } = await approvals(at, 'approve', id, '--view-hash', shown, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      approval_id: id,
      status: 'approved',
      decided_by: 'approver-1',
    });
  });

  test('an edit after the view was shown: 1, and nothing voted', async () => {
    const id = await ask(service.agent);
    const hash = await viewHashOf(id);
    const tool_call = await editedCall(service.approver2, id, { amount: 9_999 });
    await service.approver2.post(`/v1/approvals/${id}/edit`, { tool_call });
    expectRefused(await approvals(at, 'approve', id, '--view-hash', hash), 1, /view_hash_mismatch/);
    expect({ status: await statusOf(id), votes: await votesOf(id) }).toEqual({
      status: 'pending',
      votes: [],
    });
  });

  test('with --yes votes for the view of now, an edit included', async () => {
    const id = await ask(service.agent);
    const tool_call = await editedCall(service.approver2, id, { amount: 9_999 });
    await service.approver2.post(`/v1/approvals/${id}/edit`, { tool_call });
    const { code, stdout } = await approvals(at, 'approve', id, '--yes');
    expect(code).toBe(0);
    expect(linesOf(stdout).slice(0, 3)).toEqual([
      id,
      expect.stringMatching(/^status: approved/),
      'votes: 1 of 1',
    ]);
    const rows = await service.sql`select view_hash from votes where approval_id = ${id.slice(4)}`;
    expect(rows).toEqual([{ view_hash: await viewHashOf(id) }]);
  });

  test('says what is still needed after one vote of two, and needs a member of the other group', async () => {
    const id = await ask(service.agent, refund(200_000));
    const first = await approvals(at, 'approve', id, '--yes');
    expect(first.code).toBe(0);
    expect(first.stdout).toContain('\nvotes: 1 of 2\n');
    expect(first.stdout).toContain(
      '\nstill needed: 1 more vote, so that there is one each of finance, security\n',
    );
    const again = await approvals(at, 'approve', id, '--yes');
    expect({ code: again.code, votes: (await votesOf(id)).length }).toEqual({ code: 0, votes: 1 });
    const other = await newApprover(service, ['finance']);
    expectRefused(
      await approvals({ url: service.url, token: other.token }, 'approve', id, '--yes'),
      1,
      /approver_not_eligible/,
    );
    const last = await approvals(second, 'approve', id, '--yes');
    expect(last.code).toBe(0);
    expect(last.stdout).toContain('status: approved');
  });

  test('widens the vote as told', async () => {
    const id = await ask(service.agent, command('ls'), { session_id: 's-1' });
    const answer = await approvals(at, 'approve', id, '--yes', '--scope', 'session', '--json');
    expect(answer.stderr).toBe('');
    expect(JSON.parse(answer.stdout).votes).toMatchObject([{ scope: 'session' }]);
    const other = await ask(service.agent);
    const window = ['--scope', 'window', '--window-seconds', '60', '--max-uses', '2'];
    expectRefused(await approvals(at, 'approve', other, '--yes', ...window), 1, /\(scope_not_allowed\)/);
    expectRefused(
      await approvals(at, 'approve', other, '--yes', '--scope', 'window'),
      2,
      /`\/window_seconds` is required/,
    );
    expect(await votesOf(other)).toEqual([]);
  });
});

describe('aegis approvals reject', () => {
  test('ends it with a no and its reason', async () => {
    const id = await ask(service.agent);
    const { code, stdout, stderr } = await approvals(at, 'reject', id, '--reason', 'not today');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`${id}\nstatus: rejected\n`);
    expect(await readApproval(service.agent, id)).toMatchObject({
      status: 'rejected',
      decision_reason: 'not today',
    });
    expectRefused(await approvals(at, 'reject', id), 1, /\(approval_already_decided\)/);
  });

  test('as JSON is the approval; of another view than now is nothing', async () => {
    const id = await ask(service.agent);
    expectRefused(await approvals(at, 'reject', id, '--view-hash', WRONG_HASH), 1, /view_hash_mismatch/);
    expect(await statusOf(id)).toBe('pending');
    const { stdout } = await approvals(at, 'reject', id, '--view-hash', await viewHashOf(id), '--json');
    expect(JSON.parse(stdout)).toMatchObject({ approval_id: id, status: 'rejected' });
  });
});

describe('the exit code is', () => {
  test('1 for what is too late', async () => {
    const [expired, decided] = [await ask(service.agent), await askApproved(service.agent, service.approver)];
    await expire(service, expired);
    for (const decide of [['approve', '--yes'], ['reject']] as const) {
      const [name, ...options] = decide;
      expectRefused(await approvals(at, name, expired, ...options), 1, /\(approval_expired\)$/m);
      expectRefused(await approvals(at, name, decided, ...options), 1, /\(approval_already_decided\)$/m);
    }
  });

  test('1 for one’s own action', async () => {
    const { token } = await makeKey(service.operator, { principal: 'both', roles: ['agent', 'approver'] });
    const id = await ask(service.as(token));
    expectRefused(
      await approvals({ url: service.url, token }, 'approve', id, '--yes'),
      1,
      /self_approval_forbidden/,
    );
  });

  test('2 for an agent’s key, and nothing is decided', async () => {
    const agent = await newAgent(service);
    const id = await ask(agent.client);
    const where = { url: service.url, token: agent.token };
    expectRefused(await approvals(where, 'approve', id, '--yes'), 2, /\(forbidden\)$/m);
    expectRefused(await approvals(where, 'reject', id), 2, /\(forbidden\)$/m);
    expect(await statusOf(id)).toBe('pending');
  });

  test('2 for an id that names nothing', async () => {
    for (const args of [['show'], ['approve', '--yes'], ['reject']] as const) {
      const [name, ...options] = args;
      expectRefused(await approvals(at, name, UNKNOWN_APPROVAL, ...options), 2, /\(not_found\)$/m);
    }
  });

  test('2 for a key that is missing, wrong or no key, and the key is not shown', async () => {
    const { token: _, ...without } = at;
    const missing = await approvals(without, 'list');
    expectRefused(missing, 2, /^AEGIS_KEY is not set\. .*`first-keys\.json`.*`aegis keys create/);
    expect(linesOf(missing.stderr)).toHaveLength(1);
    for (const token of ['', 'aeg_wrong_but_a_key', 'has a space', 'has\na line', 'é']) {
      const ended = await approvals({ ...at, token }, 'list');
      expectRefused(ended, 2, /AEGIS_KEY is|\(unauthenticated\)/);
      if (token !== '') expect(ended.stderr).not.toContain(token);
    }
  });

  test.each<[args: string[], line: RegExp]>([
    [['show'], /^Usage: aegis approvals show ID/],
    [['show', 'apr_1'], /^`apr_1` is no id of an approval/],
    [['show', '../keys'], /^`\.\.\/keys` is no id/],
    [['approve', UNKNOWN_APPROVAL, '--view-hash', 'F'.repeat(64)], /^`--view-hash` is/],
    [
      ['approve', UNKNOWN_APPROVAL, '--yes', '--scope', 'ever'],
      /^`--scope` is `ever` but must be one of once, /,
    ],
    [['approve', UNKNOWN_APPROVAL, '--yes', '--max-uses', '0'], /^`--max-uses` is `0`/],
    [['approve', UNKNOWN_APPROVAL, '--yes', '--reason', ''], /^`--reason` is empty/],
    [['list', '--status', 'open'], /^`--status` is `open` but must be one of pending, /],
    [['list', 'surplus'], /^Unexpected argument `surplus`|^Unexpected argument/],
    [['list', '--agent', 'a b'], /\(invalid_request\)\n`\/agent` must be/],
    [['watch', '--agent', 'a b'], /^`--agent` is `a b`/],
    [['aprove'], /Did you mean `approve`\?$/m],
  ])('2 for %j', async (args, line) => {
    expectRefused(await approvals(at, ...args), 2, line);
  });

  test.each([
    'ftp://127.0.0.1',
    'localhost:8080',
    'http://user:sesame@127.0.0.1',
    'http://127.0.0.1/?a=b',
    'x',
  ])('2 for the address %j, without what may be secret', async (url) => {
    const ended = await approvals({ ...at, url }, 'list');
    expectRefused(ended, 2, /^AEGIS_URL .*must be the http or https address/);
    expect(ended.stderr).not.toContain('sesame');
  });

  test('0 for help, which says what the exit codes mean', async () => {
    for (const args of [['help'], ['list', '--help'], ['watch', '-h']]) {
      const { code, stdout } = await approvals({ url: 'x' }, ...args);
      expect(code).toBe(0);
      expect(stdout).toContain('They end with\n  0  done\n  1  no');
    }
  });
});

describe('a service that cannot be had is 3', () => {
  test('when it is down', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const url = `http://127.0.0.1:${(gone.address() as AddressInfo).port}`;
    gone.close();
    await once(gone, 'close');
    for (const args of [['list'], ['show', UNKNOWN_APPROVAL], ['reject', UNKNOWN_APPROVAL], ['watch']]) {
      const ended = await approvals({ ...at, url }, ...args);
      expectRefused(ended, 3, /^the service at http:\/\/127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)/);
      expect(ended.stderr).not.toMatch(/whether the vote/i);
    }
  });

  test('when its database is gone, and says that the outcome of a vote is not known', async () => {
    const id = await ask(service.agent);
    const hash = await viewHashOf(id);
    const proxy = await startTcpProxy(service.databaseUrl);
    const behind = await startTestService({ databaseUrl: proxy.url });
    try {
      await proxy.cut();
      const where = { ...at, url: behind.url };
      expectRefused(await approvals(where, 'list'), 3, /\(unavailable\)\n.*try again in \d+ s$/m);
      const vote = await approvals(where, 'approve', id, '--view-hash', hash);
      expectRefused(vote, 3, /whether the vote was counted is not known: `aegis approvals show` tells/);
      await proxy.mend();
      expect(await statusOf(id)).toBe('pending');
    } finally {
      await behind.close();
      await proxy.close();
    }
  });
});

describe('what is not Aegis', () => {
  let other: Server;
  let answer: { status: number; headers: Record<string, string>; body: string } | 'hang up';
  let url: string;
  const keys: (string | undefined)[] = [];
  beforeAll(async () => {
    other = createServer((request, response) => {
      keys.push(request.headers.authorization);
      if (answer === 'hang up') {
        request.socket.destroy();
        return;
      }
      response.writeHead(answer.status, answer.headers).end(answer.body);
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    other.close();
    await once(other, 'close');
  });

  test.each([
    ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>hello</h1>' }],
    ['a page that is missing', { status: 404, headers: { 'content-type': 'text/html' }, body: '\u001b[2J' }],
    [
      'JSON of another kind',
      { status: 200, headers: { 'content-type': 'application/json' }, body: '{"items":[{}]}' },
    ],
    ['no JSON', { status: 200, headers: { 'content-type': 'application/json' }, body: '{' }],
  ])('answers with %s: 2, in one line', async (_, given) => {
    answer = given;
    const ended = await approvals({ ...at, url }, 'list');
    expectRefused(ended, 2, /Check AEGIS_URL/);
    expect(linesOf(ended.stderr)).toHaveLength(1);
    expect(ended.stderr).not.toMatch(UNSAFE);
  });

  test('writes more than an instant where one belongs: 2, and nothing of it is shown', async () => {
    const real = await readApproval(service.approver, await ask(service.agent));
    const expiresAt = '2026-01-01 (\u001b[2J)';
    expect(Date.parse(expiresAt)).not.toBeNaN();
    answer = {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...real, expires_at: expiresAt }),
    };
    const ended = await approvals({ ...at, url }, 'reject', real.approval_id);
    expectRefused(ended, 2, /Check AEGIS_URL/);
    expect(ended.stderr).not.toMatch(UNSAFE);
  });

  test('leads elsewhere: is not followed, so that the key goes nowhere else', async () => {
    answer = { status: 307, headers: { location: `${url}/elsewhere` }, body: '' };
    keys.length = 0;
    expectRefused(await approvals({ ...at, url }, 'reject', UNKNOWN_APPROVAL), 2, /answered with 307/);
    expect(keys).toHaveLength(1);
  });

  test('hangs up after a vote was sent: 3, and the outcome is not known', async () => {
    answer = 'hang up';
    const ended = await approvals({ ...at, url }, 'reject', UNKNOWN_APPROVAL);
    expectRefused(ended, 3, /cannot be reached.*\nwhether the vote was counted is not known/);
  });

  test('writes what would act on the terminal into a problem: it is shown as escapes', async () => {
    const problem = {
      detail: 'a\u001b[2J\u202eb',
      code: 'x\u0007',
      errors: [{ pointer: '\n', reason: '\u200b' }],
    };
    answer = {
      status: 409,
      headers: { 'content-type': 'application/problem+json' },
      body: JSON.stringify(problem),
    };
    const ended = await approvals({ ...at, url }, 'list');
    expectRefused(ended, 1, /^a\\u\{1b\}\[2J\\u\{202e\}b \(x\\u\{7\}\)$/m);
    expect(ended.stderr).not.toMatch(UNSAFE);
  });
});

test('a key that would be sent in the clear to another machine is warned of, unless that is allowed', async () => {
  const url = 'http://aegis.invalid:8080';
  expect((await approvals({ ...at, url }, 'list')).stderr).toMatch(
    /^warning: AEGIS_URL is plain http to another machine/,
  );
  for (const where of [
    { ...at, url, env: { AEGIS_ALLOW_PLAIN_HTTP: '1' } },
    { ...at, url: 'https://aegis.invalid' },
  ]) {
    expect((await approvals(where, 'list')).stderr).toMatch(/^the service at/);
  }
});
