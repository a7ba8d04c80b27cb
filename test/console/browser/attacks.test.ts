import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readApproval } from '../../contract/support.ts';
import { chromiumPath, launchBrowser } from '../../support/browser.ts';
import { ask } from '../../support/calls.ts';
import { startTestService, type TestService } from '../../support/test_service.ts';
import { approvalPath, type ConsoleUser, openSignedIn, originOf, TEST_MS } from './console_user.ts';

// Pages of others, opened by somebody who is signed in to the console.

/** What the browser itself says of these attempts. */
const REFUSED = /frame|CORS|cross-origin|status of 40[13]|net::ERR_|sandbox|localhost|127\.0\.0\.1/i;
let service: TestService;
let browser: Browser;
let origin: string;
let victim: ConsoleUser;
let otherSite: Server;
/** What the other site's page is by its path. */
const pages = new Map<string, string>();
/** Of the same site as the console for cookies, which know no ports, and of another. */
let neighbour: string;
let stranger: string;

function read(id: string) {
  return readApproval(service.approver, id);
}

/** A form like the console's own, with all that it has but the session's token. */
async function forge(id: string, word: string, csrf: string): Promise<string> {
  const { version, review } = await read(id);
  const fields = { csrf, version, view_hash: review.view_hash, scope: 'once', reason: 'forged' };
  const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
  return `<!doctype html><form method="post" action="${origin}${approvalPath(id)}/${word}">${inputs.join('')}
    <button>Win a prize</button></form>`;
}

describe.skipIf(chromiumPath === undefined)('a page of another origin', { timeout: TEST_MS }, () => {
  beforeAll(async () => {
    service = await startTestService({ env: { AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '1000' } });
    origin = originOf(service);
    otherSite = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(pages.get(request.url ?? '') ?? '');
    });
    await new Promise<void>((resolve) => otherSite.listen(0, '127.0.0.1', resolve));
    const { port } = otherSite.address() as AddressInfo;
    [neighbour, stranger] = [`http://localhost:${port}`, `http://127.0.0.1:${port}`];
    browser = await launchBrowser();
    victim = await openSignedIn(browser, origin, service.tokens.APPROVER);
    victim.tolerate(REFUSED);
  }, TEST_MS);
  afterAll(async () => {
    await browser?.close();
    otherSite?.close();
    await service?.close();
  }, TEST_MS);

  async function pressOn(page: Page, url: string): Promise<number> {
    await page.goto(url);
    const answered = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button').click();
    return (await answered).status();
  }

  test('decides nothing with a form, even where the browser sends the session along', async () => {
    const id = await ask(service.agent);
    for (const word of ['approve', 'reject']) {
      pages.set('/prize', await forge(id, word, 'a'.repeat(64)));
      const sent = victim.page.waitForRequest((request) => request.method() === 'POST');
      expect(await pressOn(victim.page, `${neighbour}/prize`)).toBe(403);
      const { cookie } = await (await sent).allHeaders();
      expect(cookie).toContain('aegis');
      const fromStranger = victim.page.waitForRequest((request) => request.method() === 'POST');
      expect([401, 403]).toContain(await pressOn(victim.page, `${stranger}/prize`));
      expect((await (await fromStranger).allHeaders()).cookie ?? '').toBe('');
    }
    expect(await read(id)).toMatchObject({ status: 'pending', votes: [] });
  });

  test('decides nothing even when it knows the session’s token', async () => {
    const id = await ask(service.agent);
    await victim.open(approvalPath(id));
    const csrf = await victim.page.locator('#approve-form input[name="csrf"]').inputValue();
    pages.set('/prize', await forge(id, 'approve', csrf));
    expect(await pressOn(victim.page, `${neighbour}/prize`)).toBe(403);
    expect(await read(id)).toMatchObject({ status: 'pending', votes: [] });
    // The same form is taken from where it belongs.
    await victim.open(approvalPath(id));
    await victim.page.locator('#approve-button').click();
    await victim.page.waitForURL(/after=approve/);
    expect((await read(id)).status).toBe('approved');
  });

  test('decides nothing with a script, and reads nothing', async () => {
    const id = await ask(service.agent);
    pages.set('/empty', '<!doctype html><title>empty</title>');
    const form = await forge(id, 'approve', 'a'.repeat(64));
    const fields = [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]);
    await victim.page.goto(`${neighbour}/empty`);
    const tried = await victim.page.evaluate(
      async ({ target, body }) => {
        const told = (promise: Promise<Response>) =>
          promise.then(({ type, status }) => `${type} ${status}`).catch(() => 'refused');
        const post = { method: 'POST', credentials: 'include', body: new URLSearchParams(body) } as const;
        return [
          await told(fetch(`${target}/approve`, { ...post, mode: 'no-cors' })),
          await told(fetch(`${target}/approve`, post)),
          await told(fetch(target, { credentials: 'include' })),
        ];
      },
      { target: origin + approvalPath(id), body: fields as string[][] },
    );
    // A page of the console is not even loaded as something unreadable: it is for its own origin.
    expect(tried.slice(1)).toStrictEqual(['refused', 'refused']);
    expect(['refused', 'opaque 0']).toContain(tried[0]);
    expect(await read(id)).toMatchObject({ status: 'pending', votes: [] });
  });

  test('cannot put a page of the console into a frame to have its buttons pressed', async () => {
    const id = await ask(service.agent);
    pages.set('/frame', `<!doctype html><iframe src="${origin}${approvalPath(id)}"></iframe>`);
    await victim.page.goto(`${neighbour}/frame`);
    const frame = victim.page.frames().find((one) => one !== victim.page.mainFrame());
    expect(frame).toBeDefined();
    expect(await frame?.locator('#approve-button').count()).toBe(0);
  });

  test('gets no hold of a console that it opens', async () => {
    pages.set('/empty', '<!doctype html><title>empty</title>');
    await victim.page.goto(`${neighbour}/empty`);
    const opening = victim.context.waitForEvent('page');
    await victim.page.evaluate((url) => {
      (window as unknown as { opened: Window | null }).opened = window.open(url);
    }, `${origin}/console`);
    const opened = await opening;
    await opened.locator('h1').waitFor();
    expect(await opened.evaluate(() => window.opener === null)).toBe(true);
    await victim.page.waitForFunction(
      () => (window as unknown as { opened: Window | null }).opened?.closed === true,
    );
    await opened.close();
  });
});
