import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseReturnTo } from '../../src/console/return_to.ts';
import { makeKey } from '../support/calls.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { Browser, signIn } from './support.ts';

const SESSION = 'aegis_session';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '1000' } });
});
afterAll(() => service.close());

function secretOf(browser: Browser): string {
  return browser.cookies.get(SESSION)?.value ?? '';
}

async function countSessions(): Promise<number> {
  const [row] = await service.sql<{ count: number }[]>`select count(*)::int as count from console_sessions`;
  return row?.count ?? -1;
}

/** Whether who holds the cookie is signed in; else they are sent to sign in. */
async function isSignedIn(browser: Browser): Promise<boolean> {
  const answer = await browser.get('/console/sign-in');
  expect([200, 303]).toContain(answer.status);
  return answer.status === 303;
}

async function makePerson(principal: string, more: object = {}): Promise<{ keyId: string; token: string }> {
  const { id, token } = await makeKey(service.operator, { principal, roles: ['approver'], ...more });
  return { keyId: id, token };
}

describe('a session', () => {
  test('is a cookie of 256 bits that no script reads and no other site sends, and the database has its hash alone', async () => {
    const browser = new Browser(service.url);
    const answer = await browser.trySignIn(service.tokens.APPROVER);
    const given = answer.setCookies.find((text) => text.startsWith(SESSION));
    expect(given).toMatch(
      /^aegis_session=[0-9A-Za-z]{43}; Path=\/console; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    const secret = secretOf(browser);
    const rows = await service.sql`select * from console_sessions where session_hash = ${sha256(secret)}`;
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(secret);
  });

  test('lasts twelve hours, and no longer than its key', async () => {
    const lifeOf = async (browser: Browser) => {
      const [row] = await service.sql<{ seconds: number }[]>`
        select extract(epoch from expires_at - created_at)::float as seconds from console_sessions
        where session_hash = ${sha256(secretOf(browser))}`;
      return row?.seconds ?? 0;
    };
    expect(await lifeOf(await signIn(service, service.tokens.APPROVER))).toBeCloseTo(12 * 3600, 0);
    const expiresAt = new Date(Date.now() + 3_600_000);
    const { token } = await makePerson('short-lived', { expires_at: expiresAt.toISOString() });
    const seconds = await lifeOf(await signIn(service, token));
    expect(seconds).toBeGreaterThan(3500);
    expect(seconds).toBeLessThanOrEqual(3600);
  });

  test('is new at each sign-in, and the one this browser had before has ended', async () => {
    const browser = await signIn(service, service.tokens.APPROVER);
    const former = secretOf(browser);
    const thief = new Browser(service.url);
    thief.cookies.set(SESSION, { value: former, path: '/console' });
    expect(await isSignedIn(thief)).toBe(true);
    const again = new Browser(service.url);
    again.cookies.set(SESSION, { value: former, path: '/console' });
    // The sign-in page is shown to who is not signed in, so its form is taken without the session's cookie.
    const bare = new Browser(service.url);
    const csrf = await bare.csrf('/console/sign-in');
    for (const [name, cookie] of bare.cookies) again.cookies.set(name, cookie);
    await again.post('/console/sign-in', { csrf, key: service.tokens.APPROVER2 });
    expect(secretOf(again)).not.toBe(former);
    expect(await isSignedIn(again)).toBe(true);
    expect(await isSignedIn(thief)).toBe(false);
  });

  test('that was planted before the sign-in is not the one that is opened', async () => {
    const planted = 'P'.repeat(43);
    const browser = new Browser(service.url);
    browser.cookies.set(SESSION, { value: planted, path: '/console' });
    await browser.trySignIn(service.tokens.APPROVER);
    expect(secretOf(browser)).not.toBe(planted);
    const thief = new Browser(service.url);
    thief.cookies.set(SESSION, { value: planted, path: '/console' });
    expect(await isSignedIn(thief)).toBe(false);
  });
});

describe('a session ends at once', () => {
  test.each<[string, (who: { keyId: string; principal: string }, browser: Browser) => Promise<unknown>]>([
    ['when its key is revoked', ({ keyId }) => service.operator.delete(`/v1/keys/${keyId}`)],
    [
      'when its principal is disabled',
      ({ principal }) =>
        service.operator.call('PUT', `/v1/principals/${principal}`, { groups: [], disabled: true }),
    ],
    [
      'when its principal is frozen',
      ({ principal }) => service.operator.post(`/v1/agents/${principal}/freeze`),
    ],
    [
      'when it has expired',
      (_, browser) => service.sql`update console_sessions set expires_at = clock_timestamp()
        where session_hash = ${sha256(secretOf(browser))}`,
    ],
    [
      'when its key has expired',
      ({ keyId }) => service.sql`update keys set expires_at = clock_timestamp()
        where key_id = ${keyId.slice('key_'.length)}`,
    ],
    [
      'when it is signed out of',
      async (_, browser) => {
        const copy = new Browser(service.url);
        for (const [name, cookie] of browser.cookies) copy.cookies.set(name, cookie);
        const csrf = await copy.csrf('/console/nowhere');
        const answer = await copy.post('/console/sign-out', { csrf });
        expect(answer.location).toBe('/console/sign-in?signed_out=1');
        expect(copy.cookies.has(SESSION)).toBe(false);
        expect((await copy.get('/console/sign-in?signed_out=1')).html).toContain('You are signed out.');
      },
    ],
  ])('%s', async (name, end) => {
    const principal = `person-${name.replaceAll(/[^a-z]/g, '-')}`;
    const { keyId, token } = await makePerson(principal);
    const browser = await signIn(service, token);
    expect(await isSignedIn(browser)).toBe(true);
    await end({ keyId, principal }, browser);
    expect(await isSignedIn(browser)).toBe(false);
    const page = await browser.get('/console/history?status=approved');
    expect([page.status, page.location]).toEqual([
      303,
      `/console/sign-in?return_to=${encodeURIComponent('/console/history?status=approved')}`,
    ]);
    expect((await browser.get('/console/events')).status).toBe(401);
  });

  test.each<[string, (keyId: string, browser: Browser) => Promise<unknown>]>([
    ['its key', (keyId) => service.operator.delete(`/v1/keys/${keyId}`)],
    [
      'itself',
      async (_, browser) =>
        browser.post('/console/sign-out', { csrf: await browser.csrf('/console/nowhere') }),
    ],
  ])('and its stream of events ends with %s', async (name, end) => {
    const { keyId, token } = await makePerson(`listener-of-${name.replace(' ', '-')}`);
    const browser = await signIn(service, token);
    const answer = await fetch(`${service.url}/console/events`, {
      headers: { cookie: browser.cookieHeader('/console/events') },
    });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    const text = answer.text();
    await end(keyId, browser);
    expect(await text).toContain('retry:');
  });
});

describe('nobody is signed in', () => {
  test.each<[string, (secret: string) => string]>([
    ['by no cookie', () => ''],
    ['by an empty one', () => `${SESSION}=`],
    ['by another secret', () => `${SESSION}=${'A'.repeat(43)}`],
    [
      'by one that differs in a character',
      (s) => `${SESSION}=${s.slice(0, -1)}${s.endsWith('a') ? 'b' : 'a'}`,
    ],
    [
      'by one in another case',
      (s) =>
        `${SESSION}=${[...s].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join('')}`,
    ],
    ['by one cut short', (s) => `${SESSION}=${s.slice(0, -1)}`],
    ['by one with more behind it', (s) => `${SESSION}=${s}a`],
    ['by one in quotes', (s) => `${SESSION}="${s}"`],
    ['by one with a name in another case', (s) => `Aegis_Session=${s}`],
    ['by two, of which one is right', (s) => `${SESSION}=${s}; ${SESSION}=${'A'.repeat(43)}`],
    ['by the right one twice', (s) => `${SESSION}=${s}; ${SESSION}=${s}`],
    ['by the hash that the database has', (s) => `${SESSION}=${sha256(s)}`],
    ['by a statement of sql', () => `${SESSION}=' or 1=1 --`],
    ['by the key itself', () => `${SESSION}=${service.tokens.APPROVER}`],
  ])('%s', async (_, cookieOf) => {
    const secret = secretOf(await signIn(service, service.tokens.APPROVER));
    const browser = new Browser(service.url);
    const answer = await browser.get('/console', { headers: { cookie: cookieOf(secret) } });
    expect([answer.status, answer.location]).toEqual([303, '/console/sign-in?return_to=%2Fconsole']);
  });

  test('at the console by a bearer token', async () => {
    const headers = { authorization: `Bearer ${service.tokens.APPROVER}` };
    const browser = new Browser(service.url);
    expect((await browser.get('/console', { headers })).status).toBe(303);
    expect((await browser.get('/console/events', { headers })).status).toBe(401);
    expect((await browser.post('/console/sign-out', {}, { headers })).location).toContain('/console/sign-in');
  });

  test('at the API by the cookie', async () => {
    const browser = await signIn(service, service.tokens.OPERATOR);
    const cookie = browser.cookieHeader('/console');
    for (const path of ['/v1/me', '/v1/approvals', '/v1/keys', '/v1/events', '/metrics']) {
      const answer = await fetch(service.url + path, { headers: { cookie, 'x-forwarded-for': '192.0.2.1' } });
      expect([path, answer.status]).toEqual([path, 401]);
    }
    expect(browser.cookieHeader('/v1/me')).toBe('');
  });
});

describe('a sign-in is refused', () => {
  async function refuse(key: string) {
    const before = await countSessions();
    const browser = new Browser(service.url);
    const answer = await browser.trySignIn(key);
    expect(browser.cookies.has(SESSION)).toBe(false);
    expect(await countSessions()).toBe(before);
    expect(answer.html).toContain('role="alert"');
    if (key.length > 3) expect(answer.html).not.toContain(key);
    return answer;
  }

  test("to an agent's key, which is told why", async () => {
    const answer = await refuse(service.tokens.AGENT);
    expect(answer.status).toBe(403);
    expect(answer.html).toContain('This is an agent');
  });

  test("to an agent's key that is an approver's as well", async () => {
    const { token } = await makeKey(service.operator, { principal: 'both', roles: ['agent', 'approver'] });
    expect((await refuse(token)).status).toBe(403);
  });

  test('to a key that is not known, is none, or stands no longer', async () => {
    const { keyId, token } = await makePerson('gone');
    await service.operator.delete(`/v1/keys/${keyId}`);
    for (const key of [
      token,
      'aeg_key_x',
      '',
      ' ',
      'Bearer x',
      '<script>alert(1)</script>',
      'k'.repeat(5000),
    ]) {
      const answer = await refuse(key);
      expect([key.slice(0, 20), answer.status]).toEqual([key.slice(0, 20), 401]);
      expect(answer.html).toContain('This key is not known');
    }
  });

  test('to a key of a frozen principal', async () => {
    const { token } = await makePerson('cold');
    await service.operator.post('/v1/agents/cold/freeze');
    const answer = await refuse(token);
    expect(answer.status).toBe(403);
    expect(answer.html).toContain('frozen');
  });

  test.each(['operator', 'auditor'])("but not to an %s's key", async (role) => {
    const { token } = await makeKey(service.operator, { principal: `person-${role}`, roles: [role] });
    await signIn(service, token);
  });

  test('with a key that has spaces around it is not: people paste', async () => {
    await signIn(service, ` ${service.tokens.APPROVER}\n`);
  });
});

test('failed sign-ins count against the address as those of the API do, and lock no valid key out', async () => {
  const limited = await startTestService({
    env: { AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '3', AEGIS_TRUST_PROXY: '127.0.0.0/8' },
  });
  try {
    const tryFrom = async (address: string, key: string) => {
      const browser = new Browser(limited.url);
      const csrf = await browser.csrf('/console/sign-in');
      return browser.post('/console/sign-in', { csrf, key }, { headers: { 'x-forwarded-for': address } });
    };
    const statuses: number[] = [];
    for (let tries = 0; tries < 4; tries += 1) statuses.push((await tryFrom('192.0.2.7', 'wrong')).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
    const refused = await tryFrom('192.0.2.7', 'wrong');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const api = await fetch(`${limited.url}/v1/me`, {
      headers: { authorization: 'Bearer wrong', 'x-forwarded-for': '192.0.2.7' },
    });
    expect(api.status).toBe(429);
    expect((await tryFrom('192.0.2.8', 'wrong')).status).toBe(401);
    expect((await tryFrom('192.0.2.7', limited.tokens.APPROVER)).status).toBe(303);
  } finally {
    await limited.close();
  }
});

describe('the form of a sign-in', () => {
  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['without a token', {}, {}],
    ['with another token', { csrf: '0'.repeat(64) }, {}],
    ['from another origin', { csrf: 'own' }, { origin: 'https://evil.example' }],
    ['from an origin that is none', { csrf: 'own' }, { origin: 'null' }],
    ['from another site', { csrf: 'own' }, { 'sec-fetch-site': 'cross-site' }],
  ])('%s signs nobody in', async (_, form, headers) => {
    const browser = new Browser(service.url);
    const own = await browser.csrf('/console/sign-in');
    const csrf: Record<string, string> = form.csrf === 'own' ? { csrf: own } : form;
    const answer = await browser.post(
      '/console/sign-in',
      { ...csrf, key: service.tokens.APPROVER },
      { headers },
    );
    expect(answer.status).toBe(403);
    expect(browser.cookies.has(SESSION)).toBe(false);
  });

  test('of another browser signs nobody in', async () => {
    const csrf = await new Browser(service.url).csrf('/console/sign-in');
    const browser = new Browser(service.url);
    await browser.get('/console/sign-in');
    const answer = await browser.post('/console/sign-in', { csrf, key: service.tokens.APPROVER });
    expect(answer.status).toBe(403);
    const without = new Browser(service.url);
    expect((await without.post('/console/sign-in', { csrf, key: service.tokens.APPROVER })).status).toBe(403);
  });
});

describe('after the sign-in the way leads', () => {
  const HOME = '/console';
  test.each<[string | null | undefined, string]>([
    ['/console', '/console'],
    ['/console/history?status=approved&agent=a%20b', '/console/history?status=approved&agent=a%20b'],
    ['/console/approvals/apr_1', '/console/approvals/apr_1'],
    ['/console?agent=x', '/console?agent=x'],
    [null, HOME],
    [undefined, HOME],
    ['', HOME],
    ['/', HOME],
    ['https://evil.example/', HOME],
    ['https://evil.example/console', HOME],
    ['//evil.example/console', HOME],
    ['/\\evil.example', HOME],
    ['/console/\\evil.example', HOME],
    ['\\/\\/evil.example/console', HOME],
    ['/console//evil.example', HOME],
    ['/console/../../evil', HOME],
    ['/console/..', HOME],
    ['/console/%2e%2e/v1/keys', HOME],
    ['/console/./history', '/console/history'],
    ['/consolex', HOME],
    ['/console@evil.example', HOME],
    ['/console.evil.example', HOME],
    ['/console/\r\nSet-Cookie: a=b', HOME],
    ['/console/\u0000', HOME],
    ['/console/\t/evil.example', HOME],
    ['/console/é', HOME],
    ['javascript:alert(1)//console', HOME],
    [' /console/history', HOME],
    ['/console/sign-in', HOME],
    ['/console/sign-in?return_to=/console/sign-in', HOME],
    ['/console/sign-out', HOME],
    ['/console/oidc/callback?code=a', HOME],
    ['/console/events', HOME],
    ['/console/assets/a/b.js', HOME],
    [`/console/${'a'.repeat(3000)}`, HOME],
  ])('from %j to %j', (given, expected) => {
    expect(parseReturnTo(given)).toBe(expected);
  });

  test('from the page that was asked for back to it, and nowhere else', async () => {
    const browser = new Browser(service.url);
    const sent = await browser.get('/console/grants?agent=agent-1');
    const page = await browser.get(sent.location ?? '');
    expect(page.html).toContain('name="return_to" value="/console/grants?agent=agent-1"');
    const evil = await browser.get('/console/sign-in?return_to=https://evil.example/');
    expect(evil.html).not.toContain('evil');
    const answer = await browser.trySignIn(service.tokens.APPROVER, { return_to: '//evil.example' });
    expect(answer.location).toBe('/console');
  });
});

describe('over https', () => {
  let secure: TestService;
  beforeAll(async () => {
    secure = await startTestService({ env: { AEGIS_PUBLIC_URL: 'https://aegis.example/' } });
  });
  afterAll(() => secure.close());

  test('cookies are secure by name and attribute, and browsers are told to stay there', async () => {
    const browser = new Browser(secure.url);
    const page = await browser.get('/console/sign-in');
    expect(page.headers.get('strict-transport-security')).toBe('max-age=31536000');
    const csrf = /value="([0-9a-f]{64})"/.exec(page.html)?.[1] ?? '';
    const headers = { origin: 'https://aegis.example' };
    const answer = await browser.post('/console/sign-in', { csrf, key: secure.tokens.APPROVER }, { headers });
    expect(answer.status).toBe(303);
    for (const text of [...page.setCookies, ...answer.setCookies]) {
      expect(text).toMatch(/^__Secure-aegis_\w+=.*; HttpOnly; SameSite=Strict; Secure$/);
    }
    expect((await browser.get('/console/sign-in')).status).toBe(303);
    const plain = new Browser(secure.url);
    const { value } = browser.cookies.get(`__Secure-${SESSION}`) ?? { value: '' };
    plain.cookies.set(SESSION, { value, path: '/console' });
    expect((await plain.get('/console/sign-in')).status).toBe(200);
  });

  test('the configured address alone is the own origin', async () => {
    const browser = new Browser(secure.url);
    const csrf = await browser.csrf('/console/sign-in');
    const answer = await browser.post('/console/sign-in', { csrf, key: secure.tokens.APPROVER });
    expect(answer.status).toBe(403);
    expect(answer.html).toContain('https://aegis.example/console');
  });
});

test('without a configured address a loopback one is the own origin as it was called, and no other host is', async () => {
  const { port } = new URL(service.url);
  const tryAs = async (host: string, origin: string) => {
    const browser = new Browser(`http://127.0.0.1:${port}`);
    const csrf = await browser.csrf('/console/sign-in');
    const answer = await rawPost(Number(port), host, origin, browser, { csrf, key: 'wrong' });
    return answer;
  };
  expect(await tryAs(`localhost:${port}`, `http://localhost:${port}`)).toBe(401);
  expect(await tryAs(`[::1]:${port}`, `http://[::1]:${port}`)).toBe(401);
  expect(await tryAs(`127.0.0.1:${port}`, `http://localhost:${port}`)).toBe(401);
  expect(await tryAs(`evil.example:${port}`, `http://evil.example:${port}`)).toBe(403);
  expect(await tryAs(`127.0.0.1:${port}`, 'http://127.0.0.1:1')).toBe(403);
  expect(await tryAs(`127.0.0.1:${port}`, `https://127.0.0.1:${port}`)).toBe(403);
});

/** `fetch` sends no other `Host` than its own. */
async function rawPost(
  port: number,
  host: string,
  origin: string,
  browser: Browser,
  form: Record<string, string>,
): Promise<number> {
  const { request } = await import('node:http');
  const body = new URLSearchParams(form).toString();
  const headers = {
    host,
    origin,
    cookie: browser.cookieHeader('/console/sign-in'),
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method: 'POST', path: '/console/sign-in', headers });
    sent.on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
