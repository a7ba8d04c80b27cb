import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath, launchBrowser } from '../../support/browser.ts';
import { startTestService, type TestService } from '../../support/test_service.ts';
import { approvalPath, type ConsoleUser, openSignedIn, openUser, originOf, TEST_MS } from './console_user.ts';
import { type Example, fillWithExamples } from './example_data.ts';

// Every page, in both looks and on small and large screens: what axe finds, what does not fit, what browsers complain of.

const AXE = readFileSync(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
/** WCAG 2.2, 1.4.10: no second direction to scroll in at 320 CSS pixels. */
const NARROWEST = { width: 320, height: 640 };
let service: TestService;
let browser: Browser;
let example: Example;
let approver: ConsoleUser;
let operator: ConsoleUser;
let nobody: ConsoleUser;

interface LookedAt {
  name: string;
  who: () => ConsoleUser;
  path: () => string;
  /** What is done there before it is looked at. */
  first?: (page: Page) => Promise<void>;
  /** That a page is answered with another status than 200 is told to the console by browsers. */
  status?: RegExp;
}

async function openAll(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
}

const PAGES: LookedAt[] = [
  { name: 'the sign-in', who: () => nobody, path: () => '/console/sign-in' },
  {
    name: 'the sign-in with a wrong key',
    who: () => nobody,
    path: () => '/console/sign-in',
    first: async (page) => {
      await page.getByLabel('Key').fill('wrong');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.locator('#sign-in-alert').waitFor();
    },
    status: /status of 401/,
  },
  { name: 'the queue', who: () => approver, path: () => '/console' },
  {
    name: 'the help',
    who: () => approver,
    path: () => '/console',
    first: async (page) => {
      await page.keyboard.press('?');
      await page.locator('dialog[open]').waitFor();
    },
  },
  {
    name: 'an approval of a command',
    who: () => approver,
    path: () => approvalPath(example.command),
    first: openAll,
  },
  {
    name: 'an edited approval',
    who: () => approver,
    path: () => approvalPath(example.edited),
    first: openAll,
  },
  { name: 'an approval that has a vote', who: () => approver, path: () => approvalPath(example.halfVoted) },
  {
    name: 'an approval of what destroys, after a wrong name',
    who: () => approver,
    path: () => approvalPath(example.destructive),
    first: async (page) => {
      await page.locator('#confirm').fill('something else');
      await page.locator('#approve-button').click();
      await page.locator('#refusal').waitFor();
    },
    status: /status of 422/,
  },
  { name: 'an approval that can be widened', who: () => approver, path: () => approvalPath(example.widened) },
  {
    name: 'a decided approval',
    who: () => operator,
    path: () => approvalPath(example.decided),
    first: openAll,
  },
  { name: 'the history', who: () => approver, path: () => '/console/history' },
  { name: 'the grants', who: () => operator, path: () => '/console/grants' },
  { name: 'the paused sessions', who: () => operator, path: () => '/console/sessions' },
  { name: 'the policies', who: () => operator, path: () => '/console/policy', first: openAll },
  { name: 'an agent', who: () => operator, path: () => '/console/agents/support-bot' },
  {
    name: 'a paused session',
    who: () => operator,
    path: () => '/console/agents/data-janitor/sessions/spring-cleaning',
  },
  { name: 'the passkeys', who: () => approver, path: () => '/console/passkeys' },
  {
    name: 'no page',
    who: () => approver,
    path: () => '/console/nothing',
    status: /status of 404/,
  },
];

/** What axe finds that is serious, each with where it is. */
async function findFaults(page: Page): Promise<string[]> {
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(options: object): Promise<AxeResults> } };
    return (await axe.run({ resultTypes: ['violations'] })).violations.map(({ id, impact, nodes }) => ({
      ...{ id, impact },
      nodes: nodes.map(({ target, failureSummary }) => `${target.join(' ')}: ${failureSummary ?? ''}`),
    }));
  });
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).join('; ')}`);
}

/** What is wider than the screen, outermost first; nothing where nobody has to scroll sideways. */
function findTooWide(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = [...document.body.querySelectorAll('*')].filter(
      (element) => element.getBoundingClientRect().right > clientWidth + 0.5,
    );
    return wide.slice(0, 5).map((element) => `${element.tagName} ${element.id} ${element.className}`);
  });
}

describe.skipIf(chromiumPath === undefined)('in a browser', { timeout: TEST_MS }, () => {
  beforeAll(async () => {
    service = await startTestService({ env: { AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '1000' } });
    const origin = originOf(service);
    example = await fillWithExamples({
      ...service,
      expireIn: async (id, seconds) => {
        await service.sql`update approvals
          set expires_at = clock_timestamp() + make_interval(secs => ${seconds})
          where approval_id = ${id.slice(4)}::uuid`;
      },
    });
    browser = await launchBrowser();
    approver = await openSignedIn(browser, origin, service.tokens.APPROVER);
    operator = await openSignedIn(browser, origin, service.tokens.OPERATOR);
    nobody = await openUser(browser, origin);
  }, TEST_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  }, TEST_MS);

  test('what is looked for would be found', async () => {
    const { page } = nobody;
    await nobody.open('/console/sign-in');
    await page.evaluate(AXE);
    expect(await findTooWide(page)).toStrictEqual([]);
    await page.evaluate(() => {
      const faint = document.createElement('p');
      faint.textContent = 'hardly to be read';
      faint.style.cssText = 'color: #999; background: #aaa; width: 3000px';
      const unnamed = document.createElement('button');
      document.querySelector('main')?.append(faint, unnamed);
    });
    expect((await findFaults(page)).map((fault) => fault.split(':', 1)[0])).toStrictEqual([
      ...['button-name', 'color-contrast'],
    ]);
    expect((await findTooWide(page)).length).toBeGreaterThan(0);
    nobody.complaints.length = 0;
  });

  test.each(PAGES)(
    '$name has no serious fault that axe finds, and fits',
    async ({ who, path, first, status }) => {
      const user = who();
      const { page } = user;
      user.tolerate(...(status === undefined ? [] : [status]));
      await page.setViewportSize(DESKTOP);
      await user.open(path());
      await first?.(page);
      await page.evaluate(AXE);
      for (const viewport of [DESKTOP, PHONE]) {
        await page.setViewportSize(viewport);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const look = `${colorScheme}, ${viewport.width} wide`;
          expect(await findFaults(page), look).toStrictEqual([]);
          expect(await findTooWide(page), look).toStrictEqual([]);
        }
      }
      await page.setViewportSize(NARROWEST);
      expect(await findTooWide(page), '320 wide').toStrictEqual([]);
      expect(user.complaints.splice(0)).toStrictEqual([]);
    },
  );
});
