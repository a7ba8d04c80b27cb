import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findUnsafeText } from '../../../src/core/identifiers.ts';
import { ROOMY } from '../../contract/support.ts';
import { chromiumPath, launchBrowser } from '../../support/browser.ts';
import { askApproved, authorize, refund } from '../../support/calls.ts';
import { putTool } from '../../support/rules.ts';
import { startTestService, type TestService } from '../../support/test_service.ts';
import {
  approvalPath,
  type ConsoleUser,
  openSignedIn,
  originOf,
  TEST_MS,
  textOf,
  waitForText,
} from './console_user.ts';

// Naughty strings in every field that is shown, as a real browser reads them.

const FILE = new URL('../../vectors/unicode/big-list-of-naughty-strings.json', import.meta.url);
const NAUGHTY: string[] = JSON.parse(readFileSync(FILE, 'utf8')).strings.filter(
  (text: string) => text !== '' && !/\p{Surrogate}/u.test(text),
);
/** Meant for pages like these, in whose lists none of them stands. */
const OURS = [
  '</textarea><script>alert(1)</script>',
  '</title><script>alert(2)</script>',
  '</bdi></td></tr></table><form action=//evil.example><button>Approve</button></form>',
  '"><svg onload=alert(3)>',
  "' onfocus=alert(4) autofocus='",
  '<iframe srcdoc="<script>parent.alert(5)</script>"></iframe>',
  '<a href="javascript:alert(6)" id=approve-button>Approve</a>',
  '<base href="//evil.example"><meta http-equiv=refresh content="0;url=//evil.example">',
  '{{constructor.constructor("alert(7)")()}}',
];
/** What a page could run or be led astray by; each gets an approval of its own, and so a row in every list. */
const MARKUP = [...new Set([...NAUGHTY.filter((text) => /<|javascript:/i.test(text)), ...OURS])];
/** So many together on the page of one approval. */
const PACK = 40;
const AT_ONCE = 6;
const REASON_MAX = 2000;

/** The elements that pages of the console are made of. */
const ELEMENTS = new Set(
  'html head meta title link script body a header nav div span strong form input button main h1 h2 h3 p ul ol li dl dt dd section details summary table caption thead tbody tr th td code pre bdi blockquote time textarea label fieldset legend select option del ins footer'.split(
    ' ',
  ),
);

let service: TestService;
let browser: Browser;
let approver: ConsoleUser;
let operator: ConsoleUser;
/** The approvals full of one of our strings each, and those full of many. */
const single = new Map<string, string>();
const packed: string[] = [];

/** A text where one of a call's circumstances may stand: those refuse what cannot be seen. */
function asContext(text: string): string | null {
  const seen = Array.from(text, (character) => (findUnsafeText(character) === undefined ? character : ''));
  return seen.join('').slice(0, 256) || null;
}

function contextOf(text: string): object {
  const circumstance = asContext(text);
  const names = ['workspace', 'environment', 'session_id', 'run_id', 'justification'];
  return circumstance === null ? {} : Object.fromEntries(names.map((name) => [name, circumstance]));
}

async function askFor(resource: string, parameters: object, context: object): Promise<string> {
  const call = { tool: 'naughty', action: 'ask', resource, mutates_state: true, parameters };
  const answer = await authorize(service.agent, call, { context });
  if (answer.body?.decision !== 'require_approval') throw new Error(`no ask: ${answer.text}`);
  return answer.body.approval.approval_id;
}

async function askForAll(): Promise<void> {
  const left = [...MARKUP];
  const worker = async (): Promise<void> => {
    for (let text = left.pop(); text !== undefined; text = left.pop()) {
      const id = await askFor(text, { value: text, list: [text], [text]: 1 }, contextOf(text));
      if (OURS.includes(text)) single.set(text, id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  for (let at = 0; at < NAUGHTY.length; at += PACK) {
    const texts = NAUGHTY.slice(at, at + PACK);
    const justification = asReason(texts).replaceAll('\n', ' ').slice(0, 500).trim();
    packed.push(await askFor(`pack ${at}`, { texts }, { justification }));
  }
}

/** As much of many strings as a person may give for a reason. */
function asReason(texts: readonly string[]): string {
  return texts
    .map((text) => asContext(text) ?? '')
    .join('\n')
    .slice(0, REASON_MAX)
    .trim();
}

/** @throws AssertionError where a page has become anything but text by what it shows. */
async function expectHarmless(user: ConsoleUser, what: string): Promise<void> {
  const found = await user.page.evaluate(
    ({ elements, origin }) => {
      for (const details of document.querySelectorAll('details')) details.open = true;
      const all = [...document.querySelectorAll('*')];
      const isOwn = (address: string | null): boolean =>
        address === null ||
        address.startsWith('#') ||
        new URL(address, origin).href.startsWith(`${origin}/console`);
      return {
        elements: all.map(({ localName }) => localName).filter((name) => !elements.includes(name)),
        attributes: all.flatMap((element) =>
          element
            .getAttributeNames()
            .filter((name) => /^(on|style$|srcdoc$|formaction$|http-equiv$)/.test(name)),
        ),
        addresses: all
          .flatMap((element) => ['href', 'action', 'src'].map((name) => element.getAttribute(name)))
          .filter((address) => !isOwn(address)),
        base: document.baseURI.startsWith(origin),
        ids: all.map(({ id }) => id).filter((id, index, ids) => id !== '' && ids.indexOf(id) !== index),
        ran: (window as unknown as { xss: string[] }).xss,
      };
    },
    { elements: [...ELEMENTS], origin: user.origin },
  );
  expect(found, what).toStrictEqual({
    ...{ elements: [], attributes: [], addresses: [], base: true, ids: [], ran: [] },
  });
  expect(user.complaints, what).toStrictEqual([]);
}

async function visit(user: ConsoleUser, path: string): Promise<Page> {
  await user.open(path);
  await expectHarmless(user, path);
  return user.page;
}

describe.skipIf(chromiumPath === undefined)('naughty strings are text', { timeout: TEST_MS }, () => {
  beforeAll(async () => {
    service = await startTestService({ env: { ...ROOMY, AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '1000' } });
    await putTool(service.operator, 'naughty', 'ask', { mutates_state: true, permission: 'ask' });
    await askForAll();
    browser = await launchBrowser();
    approver = await openSignedIn(browser, originOf(service), service.tokens.APPROVER);
    operator = await openSignedIn(browser, originOf(service), service.tokens.OPERATOR);
  }, TEST_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  }, TEST_MS);

  test('in the queue, also when they come in while it is open', async () => {
    const page = await visit(approver, '/console');
    expect(await page.locator('#mine li.ask').count()).toBe(MARKUP.length + packed.length);
    await waitForText(page, '#connection', /^Live/);
    const added: { text: string; id: string }[] = [];
    for (const text of OURS) {
      added.push({ text, id: await askFor(text, { text }, contextOf(`again ${text}`)) });
    }
    for (const { text, id } of added) {
      await page.locator(`#row-${id}`).waitFor();
      expect(await textOf(page, `#row-${id}`)).toContain(text);
    }
    await expectHarmless(approver, 'the live queue');
  });

  test('in the history and in timelines', async () => {
    const page = await visit(operator, '/console/history');
    let pages = 1;
    for (; (await page.locator('a[rel="next"]').count()) > 0; pages += 1) {
      await page.locator('a[rel="next"]').click();
      await page.waitForURL((url) => url.searchParams.has('cursor'));
      await expectHarmless(operator, page.url());
      if (pages > 30) throw new Error('the history does not end');
    }
    expect(pages).toBeGreaterThan(1);
    await visit(operator, '/console/agents/agent-1');
    for (const text of OURS) {
      await visit(operator, `/console/agents/agent-1/sessions/${encodeURIComponent(text)}`);
      expect(await textOf(operator.page, 'main')).toContain(text);
    }
  });

  test('on the pages of approvals, and in their titles', async () => {
    expect([single.size, packed.length]).toStrictEqual([OURS.length, Math.ceil(NAUGHTY.length / PACK)]);
    for (const [text, id] of single) {
      const page = await visit(approver, approvalPath(id));
      expect(await textOf(page, 'main')).toContain(text);
      expect(JSON.parse(await page.locator('#parameters').inputValue())).toStrictEqual({
        ...{ value: text, list: [text], [text]: 1 },
      });
    }
    for (const id of packed) await visit(approver, approvalPath(id));
  });

  test('as reasons and outcomes that people and agents give', async () => {
    for (const [index, id] of packed.entries()) {
      const reason = asReason([...OURS, ...NAUGHTY.slice(index * PACK, (index + 1) * PACK)]);
      const answer = await service.approver.post(`/v1/approvals/${id}/reject`, { reason });
      expect(answer.status, answer.text).toBe(200);
      const page = await visit(approver, approvalPath(id));
      expect(await textOf(page, '#story')).toContain(OURS[0]);
    }
    const used = await askApproved(service.agent, service.approver2, refund(9000));
    await service.agent.post(`/v1/approvals/${used}/consume`);
    const detail = asReason(OURS).slice(0, 500);
    const reported = await service.agent.post(`/v1/approvals/${used}/outcome`, { outcome: 'failed', detail });
    expect(reported.status, reported.text).toBe(200);
    await visit(approver, approvalPath(used));
    for (const path of ['/console/agents/agent-1', '/console/sessions', '/console'])
      await visit(operator, path);
  });

  test('when they come back in forms that did nothing, and in filters', async () => {
    approver.tolerate(/status of 4(00|22)/);
    const [id = ''] = single.values();
    const text = OURS.join(' ');
    await approver.open(approvalPath(id));
    const { page } = approver;
    await page.locator('#edit summary').click();
    await page.locator('#parameters').fill(text);
    await page.locator('#edit-reason').fill(text);
    await page.locator('#edit-button').click();
    await page.locator('#edit-refusal').waitFor();
    await expectHarmless(approver, 'a form that did nothing');
    expect(await page.locator('#parameters').inputValue()).toBe(text);
    expect(await page.locator('#edit-reason').inputValue()).toBe(text);
    for (const filter of OURS) {
      const query = `agent=${encodeURIComponent(filter)}&tool=${encodeURIComponent(filter)}`;
      await visit(approver, `/console/history?${query}`);
      expect(await page.locator('#tool').inputValue()).toBe(filter.toLowerCase());
    }
    await visit(approver, `/console?agent=${encodeURIComponent(text)}&tool=${encodeURIComponent(text)}`);
  });
});
