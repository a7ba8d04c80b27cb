import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chromiumPath, launchBrowser } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { CLIENT, startProvider, type TestProvider } from './openid_provider.ts';

// What only a real browser shows: which cookies it sends from where, and what its policy lets through.

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  let provider: TestProvider;
  let service: TestService;
  let browser: Browser;
  let otherSite: Server;
  /** By another name than the provider's and the other site's, so that those are other sites. */
  let origin: string;
  let otherOrigin: string;
  let context: BrowserContext;
  let page: Page;
  /** What the browser complained of. */
  let complaints: string[];

  beforeAll(async () => {
    provider = await startProvider();
    service = await startTestService({
      env: {
        AEGIS_OIDC_ISSUER: provider.issuer,
        AEGIS_OIDC_CLIENT_ID: CLIENT.clientId,
        AEGIS_OIDC_CLIENT_SECRET: CLIENT.clientSecret,
      },
    });
    origin = `http://localhost:${new URL(service.url).port}`;
    provider.register(`${origin}/console/oidc/callback`);
    otherSite = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html>
        <a href="${origin}/console/history">the console</a>
        <form method="post" action="${origin}/console/sign-out"><button>free gift</button></form>`);
    });
    await new Promise<void>((resolve) => otherSite.listen(0, '127.0.0.1', resolve));
    otherOrigin = `http://127.0.0.1:${(otherSite.address() as AddressInfo).port}`;
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    otherSite?.close();
    await service?.close();
    await provider?.close();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    page = await context.newPage();
    complaints = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (/Content Security Policy|Refused/i.test(message.text())) complaints.push(message.text());
    });
  });
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });

  async function signInByKey(): Promise<void> {
    await page.goto(`${origin}/console/history`);
    await page.getByLabel('Key').fill(service.tokens.APPROVER);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL(`${origin}/console/history`);
  }

  test('a key signs in, the page has its looks, and signing out ends it', async () => {
    await signInByKey();
    await expect(page.locator('.who').textContent()).resolves.toContain('approver-1');
    const font = await page.evaluate(() => getComputedStyle(document.body).fontFamily);
    expect(font).toContain('system-ui');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${origin}/console/sign-in?signed_out=1`);
    await page.goto(`${origin}/console/history`);
    expect(page.url()).toContain('/console/sign-in');
  });

  test('the provider signs in, through its own pages on another site', async () => {
    const mapped = { groups: ['finance'], oidc_subject: 'sub-olivia' };
    await service.operator.call('PUT', '/v1/principals/olivia', mapped);
    await page.goto(`${origin}/console/history`);
    await page.getByRole('button', { name: /^Sign in with/ }).click();
    await page.locator('input[name="login"]').fill('sub-olivia');
    await page.locator('input[name="password"]').fill('any');
    await page.locator('button[type="submit"]').click();
    await page.locator('input[name="prompt"][value="consent"]').waitFor({ state: 'attached' });
    await page.locator('button[type="submit"]').click();
    await page.waitForURL(`${origin}/console/history`);
    await expect(page.locator('.who').textContent()).resolves.toContain('olivia');
  });

  test('a link on another site leads to the page, for who is signed in', async () => {
    await signInByKey();
    await page.goto(otherOrigin);
    await page.getByRole('link').click();
    await page.locator('.who').waitFor();
    expect(page.url()).toBe(`${origin}/console/history`);
  });

  test('a form of another site does nothing', async () => {
    await signInByKey();
    await page.goto(otherOrigin);
    const answered = page.waitForResponse((response) => response.url().endsWith('/console/sign-out'));
    await page.getByRole('button').click();
    expect((await answered).status()).toBe(403);
    await page.goto(`${origin}/console/history`);
    await expect(page.locator('.who').textContent()).resolves.toContain('approver-1');
  });
});
