import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { makeKey } from '../../support/calls.ts';
import type { TestService } from '../../support/test_service.ts';

/** For conditions, never for how fast: other work may be going on on the machine. */
const WAIT_MS = 90_000;
export const TEST_MS = 240_000;

/** Somebody at a browser of their own. What the browser complains of, and whatever a page did that none may, is kept. */
export interface ConsoleUser {
  context: BrowserContext;
  page: Page;
  origin: string;
  complaints: string[];
  /** Complaints that what the test does is answered with. */
  tolerate(...patterns: RegExp[]): void;
  open(path: string): Promise<void>;
}

/** By a name rather than an address, as people open it. */
export function originOf(service: Pick<TestService, 'url'>): string {
  return `http://localhost:${new URL(service.url).port}`;
}

/** Runs before every page's own scripts: what `alert(1)` and its like would call leaves its mark. */
function markWhatRuns(): void {
  const marks = window as unknown as { xss: string[] };
  marks.xss = [];
  for (const name of ['alert', 'confirm', 'prompt', 'print'] as const) {
    Object.defineProperty(window, name, {
      value: (text: unknown) => {
        marks.xss.push(`${name}(${text})`);
        console.error(`a script ran: ${name}(${text})`);
      },
    });
  }
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    console.error(`Content Security Policy: ${violatedDirective} blocked ${blockedURI}`),
  );
}

export async function openUser(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<ConsoleUser> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(WAIT_MS);
  context.setDefaultNavigationTimeout(WAIT_MS);
  await context.addInitScript(markWhatRuns);
  const complaints: string[] = [];
  let tolerated: RegExp[] = [];
  const complain = (text: string): void => {
    if (!tolerated.some((pattern) => pattern.test(text))) complaints.push(text);
  };
  context.on('weberror', (error) => complain(String(error.error())));
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      complain(`${message.text()} ${message.location().url}`);
  });
  context.on('dialog', (dialog) => {
    complain(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) complain(`a request to ${request.url()}`);
  });
  const page = await context.newPage();
  return {
    context,
    page,
    origin,
    complaints,
    tolerate: (...patterns) => {
      tolerated = patterns;
    },
    open: async (path) => {
      await page.goto(origin + path);
    },
  };
}

export async function signInAs({ page, origin }: ConsoleUser, key: string, path = '/console'): Promise<void> {
  await page.goto(`${origin}/console/sign-in?return_to=${encodeURIComponent(path)}`);
  await page.getByLabel('Key').fill(key);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(origin + path);
}

/** A browser that is signed in with a key. */
export async function openSignedIn(
  browser: Browser,
  origin: string,
  key: string,
  options?: BrowserContextOptions,
): Promise<ConsoleUser> {
  const user = await openUser(browser, origin, options);
  await signInAs(user, key);
  return user;
}

/** The same with a new key. */
export async function openPerson(
  browser: Browser,
  service: TestService,
  key: object,
  options?: BrowserContextOptions,
): Promise<ConsoleUser> {
  const { token } = await makeKey(service.operator, key);
  return openSignedIn(browser, originOf(service), token, options);
}

export function approvalPath(id: string): string {
  return `/console/approvals/${id}`;
}

/** What stands in an element, white space in one. */
export async function textOf(page: Page, selector: string): Promise<string> {
  return ((await page.locator(selector).textContent()) ?? '').replace(/\s+/g, ' ').trim();
}

/** Waits until what stands in an element is so, and gives it. */
export async function waitForText(page: Page, selector: string, pattern: RegExp): Promise<string> {
  await page.locator(selector).filter({ hasText: pattern }).first().waitFor();
  return textOf(page, `${selector} >> nth=0`);
}

/** The id of what has the focus. */
export function focusedId(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.id ?? '');
}

/** Puts a mark into a page that no other document has: who finds it again has not loaded the page anew. */
export async function markDocument(page: Page): Promise<void> {
  await page.evaluate(() => {
    document.documentElement.dataset.sameDocument = 'yes';
  });
}

export function isSameDocument(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.dataset.sameDocument === 'yes');
}
