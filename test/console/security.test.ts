import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CONSOLE_PAGES } from '../../src/console/pages/index.ts';
import { ask, makeKey } from '../support/calls.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { Browser, csrfIn, type SendOptions, signIn } from './support.ts';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const NOWHERE = '/console/nowhere';

let service: TestService;
let approver: Browser;
let approvalId: string;
beforeAll(async () => {
  service = await startTestService({ env: { AEGIS_APPROVAL_ATTEMPT_LIMIT: '100000' } });
  approver = await signIn(service, service.tokens.APPROVER);
  approvalId = await ask(service.agent);
});
afterAll(() => service.close());

/** A page's path with something that exists in its place, where there is. */
function fill(path: string): string {
  return path.replace('/approvals/:id', `/approvals/${approvalId}`).replaceAll(/:[a-z]+/g, 'agent-1');
}

const pagesOf = (wanted: 'get' | 'post') =>
  CONSOLE_PAGES.filter(({ method }) => method === wanted).map(({ path }) => path);
const GETS = pagesOf('get');
const POSTS = [...pagesOf('post'), '/console/sign-out'];

/** All that a form could change, and who is signed in. */
async function readState(): Promise<string> {
  const tables = [
    'approvals',
    'votes',
    'grants',
    'keys',
    'principals',
    'sessions',
    'agent_pauses',
    'denials',
    'passkeys',
    'console_sessions',
  ];
  const rows = await Promise.all(
    tables.map(
      (table) =>
        service.sql`select ${table} as name, md5(coalesce(string_agg(r::text, '|' order by r::text), '')) as digest from ${service.sql(table)} r`,
    ),
  );
  return JSON.stringify(rows);
}

function assertHeaders(headers: Headers): void {
  expect(headers.get('content-security-policy')).toBe(POLICY);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('referrer-policy')).toBe('same-origin');
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  expect(headers.get('permissions-policy')).toContain('camera=()');
  expect(headers.get('strict-transport-security')).toBeNull();
  expect(headers.get('access-control-allow-origin')).toBeNull();
}

/** Nothing in a page that the policy would have to let through. */
function assertNothingInline(html: string): void {
  expect(html).not.toMatch(/<style|<script(?![^>]*\ssrc=)|\sstyle=|\son[a-z]+=|javascript:/i);
}

describe('every answer has the security headers, and is stored by nobody', () => {
  test.each([
    ['GET', '/console/sign-in', 303],
    ['GET', NOWHERE, 404],
    ['GET', '/console/', 404],
    ['DELETE', '/console/sign-in', 405],
    ['GET', '/console/sign-out', 405],
    ['POST', '/console/sign-out', 403],
    ['GET', '/console/oidc/callback?state=a&code=b', 404],
    ['POST', '/console/oidc/start', 404],
  ])('%s %s', async (method, path, status) => {
    const answer = await approver.send(method, path);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    assertHeaders(answer.headers);
  });

  test.each(GETS)('GET %s, signed in and not', async (path) => {
    const answer = await approver.get(fill(path));
    expect(answer.status).toBeLessThan(500);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    assertHeaders(answer.headers);
    assertNothingInline(answer.html);
    const stranger = await new Browser(service.url).get(fill(path));
    expect([stranger.status, stranger.html]).toEqual([303, '']);
    expect(stranger.location).toMatch(/^\/console\/sign-in\?return_to=%2Fconsole/);
    assertHeaders(stranger.headers);
  });

  test.each(POSTS)('POST %s by nobody, which does nothing', async (path) => {
    const state = await readState();
    const answer = await new Browser(service.url).post(fill(path), {});
    expect(answer.status).toBe(path === '/console/sign-out' ? 303 : 401);
    assertHeaders(answer.headers);
    expect(await readState()).toBe(state);
  });

  test('the page to sign in on', async () => {
    const { status, headers, html } = await new Browser(service.url).get('/console/sign-in');
    expect(status).toBe(200);
    assertHeaders(headers);
    assertNothingInline(html);
    expect(html).toMatch(/^<!doctype html><html lang="en">/);
  });

  test('and HEAD is GET without the page', async () => {
    const answer = await approver.send('HEAD', NOWHERE);
    expect([answer.status, answer.html]).toEqual([404, '']);
    assertHeaders(answer.headers);
  });
});

describe('a form counts only from a page of this session', () => {
  const form = () => ({
    csrf: csrf(),
    version: '1',
    view_hash: 'a',
    reason: 'because',
    confirm: 'agent-1',
  });
  let token: string;
  let foreign: string;
  const csrf = () => token;
  beforeAll(async () => {
    token = await approver.csrf(NOWHERE);
    foreign = await (await signIn(service, service.tokens.APPROVER2)).csrf(NOWHERE);
  });

  const cases: [string, number, (own: Record<string, string>) => [Record<string, string>, SendOptions]][] = [
    ['without a token', 403, ({ csrf: _, ...rest }) => [rest, {}]],
    ['with an empty token', 403, (own) => [{ ...own, csrf: '' }, {}]],
    ['with a wrong token', 403, (own) => [{ ...own, csrf: `${own.csrf?.slice(1)}0` }, {}]],
    ["with another session's token", 403, (own) => [{ ...own, csrf: foreign }, {}]],
    ['from another origin', 403, (own) => [own, { headers: { origin: 'https://evil.example' } }]],
    ['from an origin that is none', 403, (own) => [own, { headers: { origin: 'null' } }]],
    ['from another port', 403, (own) => [own, { headers: { origin: 'http://127.0.0.1:1' } }]],
    ['from another site', 403, (own) => [own, { headers: { 'sec-fetch-site': 'cross-site' } }]],
    ['from another origin of the site', 403, (own) => [own, { headers: { 'sec-fetch-site': 'same-site' } }]],
    ['as text', 415, (own) => [own, { headers: { 'content-type': 'text/plain' } }]],
    [
      'as json',
      415,
      (own) => [own, { headers: { 'content-type': 'application/json' }, rawBody: JSON.stringify(own) }],
    ],
    ['in parts', 415, (own) => [own, { headers: { 'content-type': 'multipart/form-data; boundary=a' } }]],
    ['of more than 256 KiB', 413, (own) => [{ ...own, more: 'a'.repeat(262_144) }, {}]],
    ['with a field twice', 422, (own) => [own, { rawBody: `${new URLSearchParams(own)}&csrf=${own.csrf}` }]],
    ['without a body', 403, (own) => [own, { rawBody: '' }]],
  ];

  describe.each(POSTS)('POST %s', (path) => {
    test.each(cases)('not %s', async (_, status, change) => {
      const state = await readState();
      const [fields, options] = change(form());
      const answer = await approver.post(fill(path), fields, options);
      // Who may not open the page at all is told that first; a foreign origin is told before anybody is known.
      const roles =
        CONSOLE_PAGES.find((page) => page.path === path && page.method === 'post')?.roles ?? 'any';
      const isAllowed = roles === 'any' || roles.includes('approver');
      expect(answer.status).toBe(isAllowed ? status : 403);
      assertHeaders(answer.headers);
      expect(await readState()).toBe(state);
    });
  });

  test('which signs out, when it does', async () => {
    const browser = await signIn(service, service.tokens.APPROVER);
    const own = await browser.csrf(NOWHERE);
    expect((await browser.post('/console/sign-out', { csrf: own })).status).toBe(303);
    expect((await browser.get('/console/sign-in')).status).toBe(200);
  });

  test('and from a client that is no browser, which has the token alone', async () => {
    const browser = await signIn(service, service.tokens.APPROVER);
    const body = new URLSearchParams({ csrf: await browser.csrf(NOWHERE) }).toString();
    expect((await browser.send('POST', '/console/sign-out', body)).status).toBe(303);
    expect((await browser.get('/console/sign-in')).status).toBe(200);
  });
});

describe('a GET changes nothing', () => {
  test.each(POSTS)('%s with the fields of the form in its query is not the form', async (path) => {
    const state = await readState();
    const query = new URLSearchParams({ csrf: await approver.csrf(NOWHERE), version: '1', reason: 'x' });
    const answer = await approver.get(`${fill(path)}?${query}`);
    if (GETS.includes(path)) expect(answer.status).toBeLessThan(500);
    else expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await readState()).toBe(state);
  });
});

test('a page is for the roles that it names, and says which', async () => {
  const { token } = await makeKey(service.operator, { principal: 'auditor-1', roles: ['auditor'] });
  const auditor = await signIn(service, token);
  const csrf = await auditor.csrf(NOWHERE);
  for (const { method, path, roles } of CONSOLE_PAGES) {
    if (roles === 'any' || roles.includes('auditor')) continue;
    const answer =
      method === 'get' ? await auditor.get(fill(path)) : await auditor.post(fill(path), { csrf });
    expect([path, answer.status]).toEqual([path, 403]);
    expect(answer.html).toContain('This needs a key with the role');
    expect(answer.html).toContain(`<code>${roles[0]}</code>`);
  }
});

test('a name of a principal is text in the page, whatever it is', async () => {
  // No call makes such a name: what is in the database is shown as text all the same.
  const name = `<img src=x onerror=alert(1)>"'&`;
  const { token } = await makeKey(service.operator, { principal: 'plain', roles: ['approver'] });
  await service.sql`insert into principals (tenant_id, principal, groups) values ('default', ${name}, ${['<b>']})`;
  await service.sql`update keys set principal = ${name} where principal = 'plain'`;
  const { html } = await (await signIn(service, token)).get(NOWHERE);
  expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;');
  expect(html).toContain('(&lt;b&gt;)');
  expect(html).not.toContain('<img');
});

describe('what goes wrong is a page', () => {
  test('with the status, what to do next, and the id that the log has', async () => {
    const { status, html } = await approver.get(NOWHERE);
    expect(status).toBe(404);
    expect(html).toContain('Check the path and the id.');
    expect(html).toMatch(/Request <code>req_[0-9a-f-]{36}<\/code>/);
  });

  test('or the problem, for a script that asks for json', async () => {
    const headers = { accept: 'application/json' };
    const known = await approver.get(NOWHERE, { headers });
    expect(known.headers.get('content-type')).toBe('application/problem+json');
    expect(JSON.parse(known.html)).toMatchObject({ status: 404, code: 'not_found' });
    const stranger = await new Browser(service.url).get('/console', { headers });
    expect(JSON.parse(stranger.html)).toMatchObject({ status: 401, code: 'unauthenticated' });
    assertHeaders(stranger.headers);
  });

  test('that says nothing of the cause when the fault is ours', async () => {
    await service.sql`alter table console_sessions rename to console_sessions_gone`;
    try {
      const answer = await approver.get('/console');
      expect(answer.status).toBe(500);
      expect(answer.html).toContain('The service failed on this request.');
      expect(answer.html).not.toContain('console_sessions');
      const requestId = /req_[0-9a-f-]{36}/.exec(answer.html)?.[0];
      expect(service.logged.some(({ fields }) => JSON.stringify(fields).includes(requestId ?? '?'))).toBe(
        true,
      );
      assertHeaders(answer.headers);
    } finally {
      await service.sql`alter table console_sessions_gone rename to console_sessions`;
    }
    expect((await approver.get(NOWHERE)).html).toContain('approver-1');
  });
});

describe('assets', () => {
  const pathIn = (html: string, name: string) =>
    new RegExp(`/console/assets/[0-9a-f]{16}/${name}`).exec(html)?.[0] ?? '';

  test('are kept for ever under the digest of what they are', async () => {
    const { html } = await new Browser(service.url).get('/console/sign-in');
    for (const [name, type] of [
      ['console.css', 'text/css; charset=utf-8'],
      ['pages.css', 'text/css; charset=utf-8'],
      ['icon.svg', 'image/svg+xml'],
    ] as const) {
      const answer = await new Browser(service.url).get(pathIn(html, name));
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(answer.html.length).toBeGreaterThan(10);
      assertHeaders(answer.headers);
    }
  });

  test('are served as they are now, and not kept, under that of another build', async () => {
    const answer = await new Browser(service.url).get('/console/assets/0000000000000000/console.css');
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
  });

  test.each([
    '/console/assets/0000000000000000/nothing.css',
    '/console/assets/0000000000000000/..%2f..%2f..%2fpackage.json',
    '/console/assets/0000000000000000/%2e%2e%2fapp.tsx',
    '/console/assets/0000000000000000/__proto__',
    '/console/assets/console.css',
  ])('do not include %s', async (path) => {
    expect((await new Browser(service.url).get(path)).status).toBe(404);
  });
});

test('who follows a link from another site, and so comes without the cookie, is brought to the page', async () => {
  const stranger = new Browser(service.url);
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  const answer = await stranger.get(`/console/approvals/${approvalId}?a=1`, { headers });
  expect(answer.status).toBe(200);
  expect(answer.html).toContain(
    `<meta http-equiv="refresh" content="0; url=/console/approvals/${approvalId}?a=1"/>`,
  );
  expect(answer.setCookies).toEqual([]);
  assertHeaders(answer.headers);
});

test('a token is of its own session alone, and does not tell the secret', async () => {
  const [one, other] = [
    await signIn(service, service.tokens.APPROVER),
    await signIn(service, service.tokens.APPROVER),
  ];
  const page = (await one.get(NOWHERE)).html;
  expect(csrfIn(page)).toBe(csrfIn((await one.get(NOWHERE)).html));
  expect(csrfIn(page)).not.toBe(await other.csrf(NOWHERE));
  expect(page).not.toContain(one.cookies.get('aegis_session')?.value);
});
