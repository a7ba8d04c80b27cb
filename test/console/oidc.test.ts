import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOidcClient } from '../../src/console/oidc_client.ts';
import { OidcError } from '../../src/console/oidc_error.ts';
import { ask, refund } from '../support/calls.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { CLIENT, startProvider, type TestProvider, visitProvider } from './openid_provider.ts';
import { Browser, type PageAnswer, signIn } from './support.ts';

const SESSION = 'aegis_session';

let provider: TestProvider;
let service: TestService;
beforeAll(async () => {
  provider = await startProvider();
  service = await startTestService({
    env: {
      AEGIS_OIDC_ISSUER: provider.issuer,
      AEGIS_OIDC_CLIENT_ID: CLIENT.clientId,
      AEGIS_OIDC_CLIENT_SECRET: CLIENT.clientSecret,
      AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '1000',
    },
  });
  provider.register(`http://localhost:${new URL(service.url).port}/console/oidc/callback`);
});
afterAll(async () => {
  await service.close();
  await provider.close();
});

async function mapPrincipal(principal: string, more: object): Promise<void> {
  const answer = await service.operator.call('PUT', `/v1/principals/${principal}`, { groups: [], ...more });
  expect(answer.status, answer.text).toBe(200);
}

/** Where a page goes on to by itself. */
function goesOnTo(answer: PageAnswer): string {
  const to = /<meta http-equiv="refresh" content="0; url=([^"]+)"/.exec(answer.html)?.[1];
  if (to === undefined) throw new Error(`this page stays: ${answer.status} ${answer.html}`);
  expect(answer.headers.get('content-security-policy')).toContain("form-action 'self'");
  return to.replaceAll('&amp;', '&');
}

async function start(browser: Browser, returnTo = '/console'): Promise<PageAnswer> {
  const csrf = await browser.csrf('/console/sign-in');
  return browser.post('/console/oidc/start', { csrf, return_to: returnTo });
}

/** Signs in at the provider; the path with which the browser comes back. */
async function comeBack(browser: Browser, login: string | null, returnTo?: string): Promise<URL> {
  const url = goesOnTo(await start(browser, returnTo));
  return visitProvider(provider.issuer, url, login);
}

function call(browser: Browser, callback: URL): Promise<PageAnswer> {
  return browser.get(callback.pathname + callback.search, { headers: { 'sec-fetch-site': 'cross-site' } });
}

async function signInAs(login: string): Promise<Browser> {
  const browser = new Browser(service.url);
  expect((await call(browser, await comeBack(browser, login))).status).toBe(200);
  return browser;
}

async function assertNobody(
  browser: Browser,
  answer: PageAnswer,
  status: number,
  text: string,
): Promise<void> {
  expect([answer.status, answer.html.includes(text)], answer.html).toEqual([status, true]);
  expect(browser.cookies.has(SESSION)).toBe(false);
  expect(answer.html).toContain('name="key"');
}

describe('who signs in at the provider', () => {
  test('is the principal that an operator mapped the subject to, with a key of the session alone', async () => {
    await mapPrincipal('olivia', { groups: ['finance'], oidc_subject: 'sub-olivia' });
    const browser = new Browser(service.url);
    const began = await start(browser, '/console/history?status=approved');
    const given = began.setCookies.find((text) => text.startsWith('aegis_oidc'));
    expect(given).toMatch(/^aegis_oidc=\w{43}; Path=\/console\/oidc; Max-Age=600; HttpOnly; SameSite=Lax$/);
    const url = new URL(goesOnTo(began));
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');
    expect(url.searchParams.get('scope')).toBe('openid');
    const callback = await visitProvider(provider.issuer, url.href, 'sub-olivia');
    const answer = await call(browser, callback);
    // A redirect from here would come without the cookie, which is `Strict`.
    expect([answer.status, goesOnTo(answer)]).toEqual([200, '/console/history?status=approved']);
    const session = answer.setCookies.find((text) => text.startsWith(SESSION));
    expect(session).toMatch(/; HttpOnly; SameSite=Strict$/);
    const page = await browser.get('/console/nowhere');
    expect(page.html).toContain('<strong>olivia</strong>');
    expect(page.html).toContain('(finance)');
    const rows = await service.sql`
      select k.roles, k.origin, k.principal, k.expires_at = s.expires_at as together,
        extract(epoch from s.expires_at - s.created_at)::float as seconds
      from console_sessions s join keys k on k.key_id = s.key_id where s.origin = 'oidc'`;
    expect(rows).toMatchObject([
      {
        roles: ['approver'],
        origin: 'oidc',
        principal: 'olivia',
        together: true,
        seconds: expect.closeTo(43_200, 0),
      },
    ]);
  });

  test('keeps their votes when they sign out, and nothing else of the session', async () => {
    await mapPrincipal('vera', { groups: ['finance'], oidc_subject: 'sub-vera' });
    const browser = await signInAs('sub-vera');
    const id = await ask(service.agent, refund(200_000));
    const page = await browser.get(`/console/approvals/${id}`);
    const voted = await browser.post(`/console/approvals/${id}/approve`, hiddenFields(page.html, 'approve'));
    expect(voted.status, voted.html).toBe(303);
    const csrf = await browser.csrf('/console/nowhere');
    const copy = browser.cookies.get(SESSION);
    await browser.post('/console/sign-out', { csrf });
    expect((await service.approver.get(`/v1/approvals/${id}`)).body.votes).toMatchObject([
      { approver: 'vera' },
    ]);
    const thief = new Browser(service.url);
    if (copy !== undefined) thief.cookies.set(SESSION, copy);
    expect((await thief.get('/console')).status).toBe(303);
    const rows = await service.sql`
      select revoke_reason, revoked_at is not null as revoked from keys where origin = 'oidc' and principal = 'vera'`;
    expect(rows).toMatchObject([{ revoke_reason: 'rotated', revoked: true }]);
  });

  test('is refused at once when an operator disables the principal', async () => {
    await mapPrincipal('ivan', { oidc_subject: 'sub-ivan' });
    const browser = await signInAs('sub-ivan');
    expect((await browser.get('/console/sign-in')).status).toBe(303);
    await mapPrincipal('ivan', { oidc_subject: 'sub-ivan', disabled: true });
    expect((await browser.get('/console/sign-in')).status).toBe(200);
    const again = new Browser(service.url);
    const answer = await call(again, await comeBack(again, 'sub-ivan'));
    await assertNobody(again, answer, 403, 'Your principal is disabled');
  });

  test('is told the subject to be mapped, where no operator has', async () => {
    const browser = new Browser(service.url);
    const answer = await call(browser, await comeBack(browser, 'sub-<b>nobody'));
    await assertNobody(browser, answer, 403, '<code>sub-&lt;b&gt;nobody</code>');
    expect(answer.html).toContain('oidc_subject');
  });

  test('is refused while the principal is frozen', async () => {
    await mapPrincipal('fred', { oidc_subject: 'sub-fred' });
    await service.operator.post('/v1/agents/fred/freeze');
    const browser = new Browser(service.url);
    const answer = await call(browser, await comeBack(browser, 'sub-fred'));
    await assertNobody(browser, answer, 403, 'frozen');
  });
});

describe('what comes back from the provider', () => {
  beforeAll(() => mapPrincipal('paul', { oidc_subject: 'sub-paul' }));

  test('signs nobody in with another state', async () => {
    const browser = new Browser(service.url);
    const callback = await comeBack(browser, 'sub-paul');
    for (const state of ['A'.repeat(43), '', `${callback.searchParams.get('state')}x`]) {
      const wrong = new URL(callback);
      wrong.searchParams.set('state', state);
      await assertNobody(browser, await call(browser, wrong), 400, 'not begun in this browser');
    }
    const without = new URL(callback);
    without.searchParams.delete('state');
    await assertNobody(browser, await call(browser, without), 400, 'not begun in this browser');
    expect((await call(browser, callback)).status).toBe(200);
  });

  test('signs nobody in in another browser, and is not used up there', async () => {
    const browser = new Browser(service.url);
    const callback = await comeBack(browser, 'sub-paul');
    const other = new Browser(service.url);
    await assertNobody(other, await call(other, callback), 400, 'not begun in this browser');
    await start(other);
    await assertNobody(other, await call(other, callback), 400, 'not begun in this browser');
    expect((await call(browser, callback)).status).toBe(200);
  });

  test('signs in once', async () => {
    const browser = new Browser(service.url);
    const callback = await comeBack(browser, 'sub-paul');
    const cookies = new Map(browser.cookies);
    expect((await call(browser, callback)).status).toBe(200);
    const again = new Browser(service.url);
    for (const [name, cookie] of cookies) again.cookies.set(name, cookie);
    await assertNobody(again, await call(again, callback), 400, 'was used already');
  });

  test('signs one in of two that come at the same time', async () => {
    const browser = new Browser(service.url);
    const callback = await comeBack(browser, 'sub-paul');
    const copies = [0, 1].map(() => {
      const copy = new Browser(service.url);
      for (const [name, cookie] of browser.cookies) copy.cookies.set(name, cookie);
      return copy;
    });
    const answers = await Promise.all(copies.map((copy) => call(copy, callback)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  });

  test('signs nobody in after ten minutes', async () => {
    const browser = new Browser(service.url);
    const callback = await comeBack(browser, 'sub-paul');
    await service.sql`update oidc_logins set expires_at = clock_timestamp()`;
    await assertNobody(browser, await call(browser, callback), 400, 'longer than ten minutes');
  });

  test.each<[string, (callback: URL) => Promise<unknown> | undefined]>([
    ['of another issuer', async (callback) => callback.searchParams.set('iss', 'http://evil.example')],
    [
      'of no issuer, though this provider names itself',
      async (callback) => callback.searchParams.delete('iss'),
    ],
    ['with a code that it did not give', async (callback) => callback.searchParams.set('code', 'guessed')],
    ['for another nonce', () => service.sql`update oidc_logins set nonce = 'another'`],
    [
      'for another code verifier',
      () => service.sql`update oidc_logins set code_verifier = ${'v'.repeat(43)}`,
    ],
  ])('signs nobody in %s', async (_, change) => {
    const browser = new Browser(service.url);
    const callback = await comeBack(browser, 'sub-paul');
    await change(callback);
    await assertNobody(browser, await call(browser, callback), 403, 'does not hold');
    expect(service.logged.at(-1)).toMatchObject({ message: 'the OpenID provider signed nobody in' });
  });

  test('signs nobody in who refused there', async () => {
    const browser = new Browser(service.url);
    const callback = await comeBack(browser, null);
    expect(callback.searchParams.get('error')).toBe('access_denied');
    await assertNobody(browser, await call(browser, callback), 403, 'did not sign you in');
  });

  test('leads nowhere else', async () => {
    const browser = new Browser(service.url);
    const answer = await call(browser, await comeBack(browser, 'sub-paul', 'https://evil.example/'));
    expect(goesOnTo(answer)).toBe('/console');
  });
});

describe('a sign-in at the provider begins', () => {
  test.each<[string, Record<string, string>]>([
    ['from another origin', { origin: 'https://evil.example' }],
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
  ])('not %s', async (_, headers) => {
    const browser = new Browser(service.url);
    const csrf = await browser.csrf('/console/sign-in');
    expect((await browser.post('/console/oidc/start', { csrf }, { headers })).status).toBe(403);
    expect((await browser.post('/console/oidc/start', { csrf: '0'.repeat(64) })).status).toBe(403);
    expect(browser.cookies.has('aegis_oidc')).toBe(false);
  });

  test('when the provider is back; while it is down the page says so, and the key still signs in', async () => {
    const downService = await startTestService({
      env: {
        AEGIS_OIDC_ISSUER: provider.issuer,
        AEGIS_OIDC_CLIENT_ID: CLIENT.clientId,
        AEGIS_OIDC_CLIENT_SECRET: CLIENT.clientSecret,
      },
    });
    try {
      await provider.stop();
      const browser = new Browser(downService.url);
      const answer = await start(browser);
      await assertNobody(browser, answer, 503, `${new URL(provider.issuer).host} does not answer`);
      expect(answer.headers.get('retry-after')).toBe('5');
      await signIn(downService, downService.tokens.APPROVER);
      await provider.start();
      expect(goesOnTo(await start(new Browser(downService.url)))).toContain(`${provider.issuer}/auth?`);
    } finally {
      if (!(await isUp(provider.issuer))) await provider.start();
      await downService.close();
    }
  });

  test('and ends with the truth when the provider goes down meanwhile', async () => {
    const browser = new Browser(service.url);
    const callback = await comeBack(browser, 'sub-paul');
    await provider.stop();
    try {
      await assertNobody(browser, await call(browser, callback), 503, 'does not answer');
    } finally {
      await provider.start();
    }
  });
});

describe('the client of the provider', () => {
  const redirectUri = 'http://localhost:1/console/oidc/callback';
  const ownProvider = async () => {
    const own = await startProvider();
    const client = createOidcClient({
      ...CLIENT,
      issuer: own.issuer,
      tenantId: 'default',
      publicUrl: { get: () => 'http://localhost:1', isConfigured: true },
    });
    return { own, client };
  };
  const subjectOf = async (own: TestProvider, client: ReturnType<typeof createOidcClient>) => {
    const { url, login } = await client.begin('a-state');
    const callback = await visitProvider(own.issuer, url, 'sub-direct');
    return client.finish(callback.searchParams, 'a-state', { ...login, returnTo: '/console' });
  };

  test.each(['client_secret_basic', 'client_secret_post'] as const)('proves itself by %s', async (method) => {
    const { own, client } = await ownProvider();
    try {
      own.register(redirectUri, method);
      expect(await subjectOf(own, client)).toBe('sub-direct');
    } finally {
      await own.close();
    }
  });

  test('believes no token that the provider has not signed', async () => {
    const { own, client } = await ownProvider();
    try {
      own.register(redirectUri);
      const known = (await (await fetch(`${own.issuer}/jwks`)).json()) as {
        keys: { kid: string; kty: string }[];
      };
      const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
      const keys = known.keys.filter(({ kty }) => kty === 'RSA').map((key) => ({ ...key, ...other }));
      own.replace('/jwks', (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }));
      });
      await expect(subjectOf(own, client)).rejects.toMatchObject({ kind: 'invalid' });
    } finally {
      await own.close();
    }
  });

  test('trusts no provider that says it is another', async () => {
    const { own, client } = await ownProvider();
    try {
      own.register(redirectUri);
      const path = '/.well-known/openid-configuration';
      const known = (await (await fetch(own.issuer + path)).json()) as object;
      own.replace(path, (_, response) => {
        const told = { ...known, issuer: 'http://evil.example' };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(told));
      });
      await expect(client.begin('a-state')).rejects.toBeInstanceOf(OidcError);
      own.replace(path, undefined);
      expect((await client.begin('a-state')).url).toContain(own.issuer);
    } finally {
      await own.close();
    }
  });
});

async function isUp(issuer: string): Promise<boolean> {
  return fetch(issuer).then(
    () => true,
    () => false,
  );
}

/** The hidden fields of the form that decides so. */
function hiddenFields(html: string, name: string): Record<string, string> {
  const form = new RegExp(`<form[^>]*action="[^"]*/${name}"[^>]*>.*?</form>`, 's').exec(html)?.[0] ?? '';
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, field = '', value = '']) => [field, value]));
}
