import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findUnsafeText, isDotSegment } from '../../src/core/identifiers.ts';
import { authorize } from '../support/calls.ts';
import { putTool } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { findForeignMarkup, formOf, readHtml } from './page_html.ts';
import { send } from './people.ts';
import { type Browser, signIn } from './support.ts';

const VECTORS = new URL('../vectors/unicode/', import.meta.url);
const read = (name: string) => JSON.parse(readFileSync(new URL(name, VECTORS), 'utf8'));
const NAUGHTY: string[] = read('big-list-of-naughty-strings.json').strings;
/** Meant for pages like these, in whose lists none of them stands. */
const OURS = [
  '</textarea><script>alert(1)</script>',
  '</bdi></td></tr></table><form action=//evil><button>Approve</button></form>',
  '"><svg onload=alert(1)>',
  "' onfocus=alert(1) autofocus='",
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  'javascript:alert(1)',
  '\u202egnp.exe',
  'a\u200bb\u2066c\u2069',
  'line\u2028break',
];
const STRINGS = [...new Set([...NAUGHTY, ...OURS])].filter(
  (text) => text !== '' && !/\p{Surrogate}/u.test(text),
);
const AT_ONCE = 4;
/** A machine that does much else may answer that it cannot answer now. */
const TRIES = 5;

/** What is drawn as nothing or moves other characters about; line breaks and tabs are in what is sent as lines. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u;

let service: TestService;
let approver: Browser;
let operator: Browser;
/** The approvals, with the string that each is full of. */
const asked: { id: string; text: string }[] = [];

/** A text where one of a call's circumstances may stand: those refuse what cannot be seen. */
function asContext(text: string): string | null {
  const characters = Array.from(text, (character) =>
    findUnsafeText(character) === undefined ? character : '',
  );
  const shown = characters.join('').slice(0, 256);
  return shown === '' || isDotSegment(shown) ? null : shown;
}

function callOf(text: string) {
  const parameters = JSON.parse(JSON.stringify({ value: text, list: [text], inner: { text } }));
  if (!['__proto__', '__entity', '__extn', '__expr'].includes(text)) parameters.named = { [text]: 1 };
  return { tool: 'naughty', action: 'ask', resource: text, mutates_state: true, parameters };
}

async function askFor(text: string): Promise<string> {
  const circumstance = asContext(text);
  const names = ['workspace', 'environment', 'session_id', 'run_id', 'justification'];
  const context = circumstance === null ? {} : Object.fromEntries(names.map((name) => [name, circumstance]));
  let answer = await authorize(service.agent, callOf(text), { context });
  for (let tries = 1; answer.status === 503 && tries < TRIES; tries += 1) {
    answer = await authorize(service.agent, callOf(text), { context });
  }
  if (answer.body?.decision !== 'require_approval') throw new Error(`no ask: ${answer.text}`);
  return answer.body.approval.approval_id;
}

async function inTurns<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** @throws AssertionError where a page has markup that is not the console's, or what cannot be seen. */
function assertHarmless(html: string, what: string): void {
  expect(findForeignMarkup(html), what).toStrictEqual([]);
  const texts = readHtml(html).flatMap((piece) =>
    piece.kind === 'text' ? [piece.text] : [...piece.tag.attributes.values()],
  );
  expect(
    texts.filter((text) => UNSEEN.test(text)),
    what,
  ).toStrictEqual([]);
}

beforeAll(async () => {
  service = await startTestService({
    env: {
      AEGIS_PENDING_LIMIT: '5000',
      AEGIS_ASK_LIMIT_PER_HOUR: '9000',
      AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '1000',
    },
  });
  approver = await signIn(service, service.tokens.APPROVER);
  operator = await signIn(service, service.tokens.OPERATOR);
  await putTool(service.operator, 'naughty', 'ask', { mutates_state: true, permission: 'ask' });
  await inTurns(STRINGS, async (text) => {
    asked.push({ id: await askFor(text), text });
  });
}, 240_000);
afterAll(() => service.close());

describe('naughty strings', () => {
  test('are all asked for', () => {
    expect(asked).toHaveLength(STRINGS.length);
    expect(STRINGS.length).toBeGreaterThan(480);
  });

  test('are text and nothing else in the queue, in the history and in timelines', {
    timeout: 120_000,
  }, async () => {
    assertHarmless((await approver.get('/console')).html, 'queue');
    let path: string | undefined = '/console/history';
    for (let pages = 0; path !== undefined && pages < 20; pages += 1) {
      const { html } = await approver.get(path);
      assertHarmless(html, path);
      path = /rel="next" href="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
    }
    assertHarmless((await operator.get('/console/agents/agent-1')).html, 'timeline');
    for (const text of OURS) {
      const session = asContext(text);
      const page = await operator.get(
        `/console/agents/agent-1/sessions/${encodeURIComponent(session ?? '')}`,
      );
      expect(page.status, text).toBe(200);
      assertHarmless(page.html, text);
    }
  });

  test('are text and nothing else on the pages of the approvals, and stand unchanged in the forms that edit them', {
    timeout: 240_000,
  }, async () => {
    await inTurns(asked, async ({ id, text }) => {
      const { html, status } = await approver.get(`/console/approvals/${id}`);
      expect(status).toBe(200);
      assertHarmless(html, id);
      const { fields } = formOf(html, 'edit-form');
      if (fields.parameters?.includes('(secret ')) return;
      expect(JSON.parse(fields.parameters ?? '')).toStrictEqual(callOf(text).parameters);
    });
  });

  test('that people give as reasons are text and nothing else', { timeout: 120_000 }, async () => {
    const texts = OURS.map((text) => asContext(text)).filter((text) => text !== null);
    for (const [index, reason] of texts.entries()) {
      const id = asked[index]?.id;
      const sent = await send(approver, `/console/approvals/${id}`, 'reject-form', { reason });
      expect(sent.status).toBe(303);
      assertHarmless((await approver.get(sent.location ?? '')).html, reason);
    }
    assertHarmless((await operator.get('/console/agents/agent-1')).html, 'timeline');
    assertHarmless((await operator.get('/console/sessions')).html, 'sessions');
  });

  test('that are typed into forms which do nothing are there again, as text', async () => {
    const path = `/console/approvals/${asked[100]?.id}`;
    for (const typed of OURS) {
      const sent = await send(approver, path, 'edit-form', { parameters: typed, reason: typed });
      expect(sent.status).toBeGreaterThanOrEqual(400);
      expect(findForeignMarkup(sent.html)).toStrictEqual([]);
      expect(formOf(sent.html, 'edit-form').fields).toMatchObject({ parameters: typed, reason: typed });
    }
    for (const text of OURS) {
      const query = `agent=${encodeURIComponent(text)}&tool=${encodeURIComponent(text)}`;
      expect(findForeignMarkup((await approver.get(`/console/history?${query}`)).html)).toStrictEqual([]);
      expect(findForeignMarkup((await approver.get(`/console?${query}`)).html)).toStrictEqual([]);
    }
  });
});
