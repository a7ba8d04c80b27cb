import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, makeKey, refund } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { formOf, has, partOf, textOf } from './page_html.ts';
import { sendFrom } from './people.ts';
import { type Browser, signIn } from './support.ts';

// People click twice, leave tabs open and come back when their session is over; agents choose names.

const ATTEMPTS = 5;

let service: TestService;
let finance: Browser;
let operator: Browser;

beforeAll(async () => {
  service = await startTestService({
    env: { AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '1000', AEGIS_APPROVAL_ATTEMPT_LIMIT: String(ATTEMPTS) },
  });
  finance = await signIn(service, service.tokens.APPROVER);
  operator = await signIn(service, service.tokens.OPERATOR);
  await putTool(service.operator, 'deploy', 'release', RELEASE);
  await putPolicies(service.operator, releaseAsk('@max_scope("window")'));
});
afterAll(() => service.close());

const pathOf = (id: string): string => `/console/approvals/${id}`;

async function read(id: string) {
  return (await service.approver.get(`/v1/approvals/${id}`)).body;
}

/** What a browser is once somebody has signed in in another tab of it. */
function become(browser: Browser, other: Browser): void {
  for (const [name, cookie] of other.cookies) browser.cookies.set(name, cookie);
}

describe('a form that is sent twice', () => {
  test.each(['approve', 'reject', 'cancel'])('to %s is told as done, not as refused', async (name) => {
    const id = await ask(service.agent, refund(9000));
    const browser = name === 'cancel' ? operator : finance;
    const { html } = await browser.get(pathOf(id));
    const twice = [
      await sendFrom(browser, html, `${name}-form`),
      await sendFrom(browser, html, `${name}-form`),
    ];
    const answers = twice.map(({ status, location }) => [status, location]);
    expect(answers).toStrictEqual(Array(2).fill([303, `${pathOf(id)}?after=${name}`]));
    expect((await read(id)).votes).toHaveLength(name === 'cancel' ? 0 : 1);
  });

  test('and asks for more the second time is told that the more was not done', async () => {
    const id = await ask(service.agent, release('twice'), { session_id: 's-1' });
    const { html } = await finance.get(pathOf(id));
    expect((await sendFrom(finance, html, 'approve-form')).status).toBe(303);
    const wider = await sendFrom(finance, html, 'approve-form', { scope: 'session' });
    expect(wider.status).toBe(409);
    expect(textOf(partOf(wider.html, 'refusal'))).toContain('It was not approved');
  });

  test('to edit is told as done where it asks for the same, and where the edit is another’s not', async () => {
    const id = await ask(service.agent, refund(9000));
    const { html } = await finance.get(pathOf(id));
    const typed = { parameters: JSON.stringify({ currency: 'usd', amount: 8000 }), reason: 'less' };
    const other = { ...typed, parameters: JSON.stringify({ currency: 'usd', amount: 7000 }) };
    for (const _ of ['once', 'twice']) {
      const sent = await sendFrom(finance, html, 'edit-form', typed);
      expect([sent.status, sent.location]).toStrictEqual([303, `${pathOf(id)}?after=edit`]);
    }
    expect(await read(id)).toMatchObject({ version: 2, edits: [{ editor: 'approver-1' }] });
    expect((await sendFrom(finance, html, 'edit-form', other)).status).toBe(412);
    const somebody = await signIn(service, service.tokens.APPROVER2);
    expect((await sendFrom(somebody, html, 'edit-form', typed)).status).not.toBe(303);
  });

  test('by two people is told as done to the first alone', async () => {
    const other = await signIn(service, service.tokens.APPROVER2);
    const id = await ask(service.agent, refund(9000));
    const { html } = await other.get(pathOf(id));
    await service.approver.post(`/v1/approvals/${id}/approve`);
    expect((await sendFrom(other, html, 'approve-form')).status).toBe(409);
  });
});

describe('what was written into a form', () => {
  const reason = 'a long reason, </textarea><script>alert(1)</script>';

  test('is given back when the session has ended meanwhile, as text', async () => {
    const id = await ask(service.agent, refund(9000));
    const browser = await signIn(service, service.tokens.APPROVER);
    const { html } = await browser.get(pathOf(id));
    browser.cookies.delete('aegis_session');
    const sent = await sendFrom(browser, html, 'reject-form', { reason });
    expect(sent.status).toBe(401);
    expect(textOf(sent.html)).toContain(reason);
    expect((await read(id)).status).toBe('pending');
  });

  test('is given back when somebody else has signed in meanwhile, and decides nothing in their name', async () => {
    const id = await ask(service.agent, refund(9000));
    const browser = await signIn(service, service.tokens.APPROVER);
    const { html } = await browser.get(pathOf(id));
    become(browser, await signIn(service, service.tokens.APPROVER2));
    const sent = await sendFrom(browser, html, 'approve-form', { reason });
    expect(sent.status).toBe(403);
    expect(textOf(sent.html)).toContain(reason);
    expect(await read(id)).toMatchObject({ status: 'pending', votes: [] });
  });

  test('is shown to no page of another site', async () => {
    const id = await ask(service.agent, refund(9000));
    const { html } = await finance.get(pathOf(id));
    const { action, fields } = formOf(html, 'reject-form');
    const headers = { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' };
    const sent = await finance.post(action, { ...fields, reason }, { headers });
    expect(sent.status).toBe(403);
    expect(textOf(sent.html)).not.toContain(reason);
  });
});

test('a page of another session is marked as such, so that no script puts it under the first one’s name', async () => {
  const markOf = (html: string) => /data-session="([0-9a-f]{16})"/.exec(html)?.[1];
  const browser = await signIn(service, service.tokens.APPROVER);
  const [page, fragment] = [await browser.get('/console'), await browser.get('/console?fragment=1')];
  expect(markOf(page.html)).toMatch(/./);
  expect(markOf(fragment.html)).toBe(markOf(page.html));
  become(browser, await signIn(service, service.tokens.APPROVER));
  expect(markOf((await browser.get('/console?fragment=1')).html)).not.toBe(markOf(page.html));
});

test('after too many failed attempts a form is refused as in the API: with when to try again, and nothing shown', async () => {
  const { token } = await makeKey(service.operator, { principal: 'guesser', roles: ['approver'] });
  const guesser = await signIn(service, token);
  const id = await ask(service.agent, refund(9000));
  const { html } = await guesser.get(pathOf(id));
  const guess = () => sendFrom(guesser, html, 'approve-form', { view_hash: '0'.repeat(64), reason: 'kept' });
  for (let count = 0; count < ATTEMPTS; count++) expect((await guess()).status).toBe(409);
  const refused = await guess();
  expect([refused.status, refused.headers.get('retry-after')]).toStrictEqual([429, expect.any(String)]);
  expect(has(refused.html, 'approval')).toBe(false);
  expect(textOf(refused.html)).toContain('kept');
});

describe('names in addresses', () => {
  test.each(['...', '~..', '~', 'a/../..', '%2e%2e', 'a?b#c', ' ', '\\..'])(
    'a session named %j is that session, as a browser reads the address',
    async (session) => {
      const principal = `agent-${Buffer.from(session).toString('hex')}`;
      const agent = service.as((await makeKey(service.operator, { principal, roles: ['agent'] })).token);
      const id = await ask(agent, refund(9000), { session_id: session });
      const { html } = await operator.get(pathOf(id));
      const href = new RegExp(`href="(/console/agents/${principal}/[^"]*)"`).exec(html)?.[1] ?? '';
      const { pathname } = new URL(href, service.url);
      const page = await operator.get(pathname);
      expect(page.status).toBe(200);
      expect(textOf(page.html)).toContain('rejections 0');
      // `resume` below a session is that session's alone, never the whole agent's.
      expect(new URL(`${href}/resume`, service.url).pathname).toBe(`${pathname}/resume`);
    },
  );

  test('a tool that no name can be matches nothing in the history', async () => {
    for (const tool of ['%00', '%E2%80%AE', '%0A']) {
      const page = await operator.get(`/console/history?tool=a${tool}b`);
      expect([page.status, textOf(page.html).includes('No approval is so')]).toStrictEqual([200, true]);
    }
  });
});

test('the text of a policy of now is not shown as the one that asked', async () => {
  const id = await ask(service.agent, release('drifts'));
  expect(textOf((await operator.get(pathOf(id))).html)).toContain('deploy-release-asks Its text @id');
  await service.approver.post(`/v1/approvals/${id}/reject`);
  await putPolicies(service.operator, releaseAsk('@max_scope("once")'));
  expect(textOf((await operator.get(pathOf(id))).html)).toContain('Its text as it is now, not when it asked');
});
