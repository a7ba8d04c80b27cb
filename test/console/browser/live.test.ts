import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readApproval } from '../../contract/support.ts';
import { chromiumPath, launchBrowser } from '../../support/browser.ts';
import { ask, refund } from '../../support/calls.ts';
import { startTcpProxy } from '../../support/tcp_proxy.ts';
import { startTestService, type TestService } from '../../support/test_service.ts';
import {
  approvalPath,
  type ConsoleUser,
  isSameDocument,
  markDocument,
  openSignedIn,
  originOf,
  signInAs,
  TEST_MS,
  textOf,
  waitForText,
} from './console_user.ts';

// Pages that are open while something happens, in a real browser.

const LIVE = /^Live, last updated/;
const LOST = /^Connection lost, last updated/;
/** What a browser says of requests that could not be made. */
const NO_ANSWER = /net::ERR_/;
const DECISION_BUTTONS = ['#approve-button', '#reject-button', '#edit-button'];
let service: TestService;
let browser: Browser;
let origin: string;
let finance: ConsoleUser;
let security: ConsoleUser;

function read(id: string) {
  return readApproval(service.approver, id);
}

/** Opens a page, and waits until it hears of what happens. */
async function openLive(user: ConsoleUser, path: string): Promise<Page> {
  await user.open(path);
  await waitForText(user.page, '#connection', LIVE);
  await markDocument(user.page);
  return user.page;
}

/** Ends what is waiting, so that queues have only what a test asks for. */
async function emptyQueue(): Promise<void> {
  const { body } = await service.approver.get('/v1/approvals?status=pending&limit=200');
  for (const { approval_id } of body.items)
    await service.operator.post(`/v1/approvals/${approval_id}/cancel`);
}

async function expireIn(id: string, seconds: number): Promise<void> {
  await service.sql`update approvals set expires_at = clock_timestamp() + make_interval(secs => ${seconds})
    where approval_id = ${id.slice(4)}::uuid`;
}

/** @throws AssertionError unless all of the forms are useless, each with a reason beside its button. */
async function expectUseless(page: Page): Promise<void> {
  for (const selector of DECISION_BUTTONS) {
    expect(await page.locator(selector).isDisabled(), selector).toBe(true);
    expect(await textOf(page, `${selector}-why`), selector).toMatch(/\w{3}/);
  }
}

describe.skipIf(chromiumPath === undefined)('an open page', { timeout: TEST_MS }, () => {
  beforeAll(async () => {
    service = await startTestService();
    origin = originOf(service);
    browser = await launchBrowser();
    finance = await openSignedIn(browser, origin, service.tokens.APPROVER);
    security = await openSignedIn(browser, origin, service.tokens.APPROVER2);
  }, TEST_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  }, TEST_MS);
  afterEach(async () => {
    const complaints = [finance, security].flatMap((user) => user.complaints.splice(0));
    for (const user of [finance, security]) user.tolerate();
    expect(complaints).toStrictEqual([]);
    await emptyQueue();
  });

  test('of the queue gets what is asked for, and says of what was decided by whom', async () => {
    const page = await openLive(finance, '/console');
    expect(await textOf(page, '#queue-summary')).toContain('Nothing waits for a decision');
    const id = await ask(service.agent);
    await page.locator(`#mine #row-${id}`).waitFor();
    expect(await textOf(page, '#mine .count')).toBe('1');
    expect(await textOf(page, '#live')).toBe('1 new approval waits.');
    await page.locator(`#row-${id} .row-link`).focus();
    await service.approver2.post(`/v1/approvals/${id}/reject`, { reason: 'no' });
    await waitForText(page, `#row-${id} .ask-note`, /^rejected by approver-2/i);
    await waitForText(page, '#live', /1 approval waits no more/);
    expect(await textOf(page, `#row-${id}`)).toContain('stripe');
    await page.locator('#main').focus();
    await page.locator(`#row-${id}`).waitFor({ state: 'detached' });
    expect(await isSameDocument(page)).toBe(true);
  });

  test('of an approval shows the vote of another while it waits for one more, and can still be used', async () => {
    const id = await ask(service.agent, refund(200_000));
    const page = await openLive(security, approvalPath(id));
    expect(await textOf(page, '#voters')).toContain('0 of 2 votes, one each of finance and security');
    await page.locator('#approve-reason').fill('typed before');
    await finance.open(approvalPath(id));
    await finance.page.locator('#approve-button').click();
    await finance.page.waitForURL(/after=approve/);
    expect(await textOf(finance.page, '#became')).toMatch(
      /^Your vote is on it ?It is not approved yet: still wanted is one vote of the group security/,
    );
    await waitForText(finance.page, '#connection', LIVE);
    await waitForText(page, '#voters', /1 of 2 votes.*approver-1 \(finance\) approved/s);
    expect(await textOf(page, '#voters')).toContain('Still wanted: one vote of the group security');
    expect(await isSameDocument(page)).toBe(true);
    expect(await page.locator('#approve-reason').inputValue()).toBe('typed before');
    expect((await read(id)).status).toBe('pending');
    await page.locator('#approve-button').click();
    await page.waitForURL(/after=approve/);
    expect(await textOf(page, '#became h2')).toBe('Approved, with your vote');
    expect(await read(id)).toMatchObject({ status: 'approved', votes: [{}, { reason: 'typed before' }] });
    await waitForText(finance.page, '#changed', /approved, not used yet/);
    await expectUseless(finance.page);
  });

  test('of an approval that somebody else decides says who did, and decides nothing any more', async () => {
    const id = await ask(service.agent);
    const page = await openLive(security, approvalPath(id));
    await page.locator('#reject-reason').fill('my own words');
    await service.approver.post(`/v1/approvals/${id}/reject`, { reason: 'customer called' });
    const told = await waitForText(page, '#changed', /rejected/);
    expect(told).toMatch(/rejected by approver-1.*customer called/);
    expect(told).toContain('Nothing can be decided from what is shown here. Load it as it is now');
    await expectUseless(page);
    expect(await page.locator('#reject-reason').inputValue()).toBe('my own words');
    expect(await textOf(page, '#state')).toContain('rejected');
    expect(await textOf(page, '#live')).toContain('rejected by approver-1');
    expect(await isSameDocument(page)).toBe(true);
    await page.getByRole('link', { name: 'Load it as it is now' }).click();
    await page.locator('#changed').waitFor({ state: 'hidden' });
    expect(await textOf(page, '#approve-button-why')).toMatch(/rejected/);
  });

  test('of an approval that is edited does not approve what it no longer shows', async () => {
    const call = refund(9000);
    const id = await ask(service.agent, call);
    const page = await openLive(security, approvalPath(id));
    const edited = { ...call, parameters: { ...call.parameters, amount: 7000 } };
    await service.approver.post(`/v1/approvals/${id}/edit`, { tool_call: edited });
    await waitForText(page, '#changed', /changed while you looked at it/);
    await expectUseless(page);
    expect(await textOf(page, '#review, .lines >> nth=0')).toContain('9000');
    expect((await read(id)).votes).toStrictEqual([]);
  });

  test('that heard of nothing shows the truth when its button is pressed', async () => {
    security.tolerate(NO_ANSWER, /status of 409/);
    const id = await ask(service.agent);
    await security.context.route(/\/console\/events|fragment=1/, (route) => route.abort());
    await security.open(approvalPath(id));
    const { page } = security;
    await service.approver.post(`/v1/approvals/${id}/reject`, { reason: 'no' });
    await page.locator('#approve-reason').fill('what I typed');
    await page.locator('#approve-button').click();
    await page.locator('#refusal').waitFor();
    expect(await textOf(page, '#refusal')).toMatch(/^It was not approved ?It was decided before/);
    expect(await textOf(page, '#state')).toContain('rejected');
    expect(await textOf(page, '#story')).toMatch(/rejected by approver-1/);
    await security.context.unroute(/\/console\/events|fragment=1/);
    expect(await read(id)).toMatchObject({ status: 'rejected', decided_by: 'approver-1' });
  });

  test('that a form has come back to still hears of what happens', async () => {
    security.tolerate(/status of 422/);
    const id = await ask(service.agent);
    await security.open(approvalPath(id));
    const { page } = security;
    await page.locator('#reject-reason').fill('\u202e');
    await page.locator('#reject-button').click();
    await page.locator('#refusal').waitFor();
    await waitForText(page, '#connection', LIVE);
    await service.approver.post(`/v1/approvals/${id}/reject`, { reason: 'no' });
    await waitForText(page, '#changed', /rejected by approver-1/);
    await page.getByRole('link', { name: 'Load it as it is now' }).click();
    await page.waitForURL(origin + approvalPath(id));
    expect(await textOf(page, 'h1')).toContain('stripe');
  });

  test('says that an approval has expired, and disables what decides it', async () => {
    const id = await ask(service.agent);
    const page = await openLive(security, approvalPath(id));
    const queue = await openLive(finance, '/console');
    // A row that somebody is at does not go.
    await queue.locator(`#row-${id} .row-link`).focus();
    expect(await page.locator('#approve-button').isEnabled()).toBe(true);
    await expireIn(id, 2);
    await waitForText(page, '#changed', /expired/);
    await expectUseless(page);
    expect(await textOf(page, '#state')).toMatch(/expired/);
    await waitForText(queue, `#row-${id} .ask-note`, /expired/);
    for (const open of [page, queue]) expect(await isSameDocument(open)).toBe(true);
    expect((await read(id)).status).toBe('expired');
  });

  test('counts down from what the service said was left, whatever this machine takes for the time', async () => {
    const id = await ask(service.agent);
    const user = await openSignedIn(browser, origin, service.tokens.APPROVER2);
    user.tolerate(NO_ANSWER);
    const { page } = user;
    await user.context.route(/\/console\/events|fragment=1/, (route) => route.abort());
    await page.clock.install({ time: new Date('2001-01-01T00:00:00Z') });
    await user.open(approvalPath(id));
    await page.clock.pauseAt(new Date('2001-01-01T00:10:00Z'));
    const [minutes = 0, seconds = 0] = (await textOf(page, '.countdown'))
      .split(' min ')
      .map(Number.parseFloat);
    expect(minutes).toBeGreaterThan(0);
    await page.clock.fastForward((minutes * 60 + seconds - 30) * 1000);
    expect(await textOf(page, '.countdown')).toMatch(/^(30|29) s$/);
    expect(await page.locator('.countdown').getAttribute('class')).toContain('soon');
    await page.clock.fastForward(60_000);
    expect(await textOf(page, '.countdown')).toBe('0 s');
    expect((await read(id)).status).toBe('pending');
    expect(user.complaints).toStrictEqual([]);
    await user.context.close();
  });

  test('that is offline says so, and misses nothing of what happened meanwhile', async () => {
    finance.tolerate(NO_ANSWER);
    const [decided, kept] = [await ask(service.agent), await ask(service.agent)];
    const page = await openLive(finance, '/console');
    await page.locator(`#row-${kept}`).waitFor();
    await finance.context.setOffline(true);
    await waitForText(page, '#connection', LOST);
    await service.approver2.post(`/v1/approvals/${decided}/reject`);
    const asked = await ask(service.agent);
    await finance.context.setOffline(false);
    await waitForText(page, '#connection', LIVE);
    await page.locator(`#mine #row-${asked}`).waitFor();
    await page.locator(`#row-${decided}.done, body:not(:has(#row-${decided}))`).waitFor();
    expect(await page.locator(`#row-${kept}.done`).count()).toBe(0);
    expect(await isSameDocument(page)).toBe(true);
  });

  test('whose service is gone for a while says so, and finds out what was decided meanwhile', async () => {
    const proxy = await startTcpProxy(service.url);
    const there = `http://localhost:${new URL(proxy.url).port}`;
    const user = await openSignedIn(browser, there, service.tokens.APPROVER2);
    user.tolerate(NO_ANSWER);
    const id = await ask(service.agent);
    const page = await openLive(user, approvalPath(id));
    await proxy.cut();
    await waitForText(page, '#connection', LOST);
    expect(await textOf(page, '#live')).toBe('Connection lost.');
    await service.approver.post(`/v1/approvals/${id}/approve`);
    await proxy.mend();
    await waitForText(page, '#changed', /approved by approver-1/);
    await waitForText(page, '#connection', LIVE);
    await expectUseless(page);
    expect(await isSameDocument(page)).toBe(true);
    expect(user.complaints).toStrictEqual([]);
    await user.context.close();
    await proxy.close();
  });

  test('of one person shows nothing more once another signs in at the same browser', async () => {
    const user = await openSignedIn(browser, origin, service.tokens.APPROVER);
    user.tolerate(NO_ANSWER, /status of 401/);
    const id = await ask(service.agent);
    const page = await openLive(user, approvalPath(id));
    const other = { ...user, page: await user.context.newPage() };
    await other.page.goto(`${origin}/console`);
    await other.page.getByRole('button', { name: 'Sign out' }).click();
    await other.page.waitForURL(/signed_out=1/);
    await signInAs(other, service.tokens.APPROVER2);
    await service.approver.post(`/v1/approvals/${id}/reject`, { reason: 'no' });
    await waitForText(page, '#connection', /signed out|signed in anew in another tab/);
    expect(await textOf(page, '#state')).toContain('waits for a decision');
    expect(await textOf(page, '.who')).toContain('approver-1');
    expect(user.complaints).toStrictEqual([]);
    await user.context.close();
  });

  test('whose session has ended says so, and sends nobody’s vote', async () => {
    const user = await openSignedIn(browser, origin, service.tokens.APPROVER);
    user.tolerate(/status of 401/);
    const id = await ask(service.agent);
    const page = await openLive(user, approvalPath(id));
    const other = await user.context.newPage();
    await other.goto(`${origin}/console`);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.waitForURL(/signed_out=1/);
    await page.locator('#approve-button').click();
    await page.getByText(/you are not signed in/i).waitFor();
    expect((await read(id)).votes).toStrictEqual([]);
    expect(user.complaints).toStrictEqual([]);
    await user.context.close();
  });
});
