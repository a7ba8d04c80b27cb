import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api_client.ts';
import { ask, makeKey, refund } from '../support/calls.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { findForeignMarkup, has, partOf, rowsOf, textOf } from './page_html.ts';
import { person } from './people.ts';
import { type Browser, signIn } from './support.ts';

let service: TestService;
let finance: Browser;
let security: Browser;
let auditor: Browser;

beforeAll(async () => {
  service = await startTestService({
    env: {
      AEGIS_PENDING_LIMIT: '2000',
      AEGIS_ASK_LIMIT_PER_HOUR: '5000',
      AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '1000',
    },
  });
  finance = await signIn(service, service.tokens.APPROVER);
  security = await signIn(service, service.tokens.APPROVER2);
  auditor = await person(service, { principal: 'auditor-1', roles: ['auditor'] });
});
afterAll(() => service.close());

async function makeAgent(principal: string): Promise<ApiClient> {
  return service.as((await makeKey(service.operator, { principal, roles: ['agent'] })).token);
}

/** Makes an approval expire after so many seconds, of which none are over. */
async function expireIn(id: string, seconds: number): Promise<void> {
  await service.sql`update approvals set expires_at = clock_timestamp() + make_interval(secs => ${seconds})
    where approval_id = ${id.slice(4)}::uuid`;
}

async function emptyQueue(): Promise<void> {
  const { body } = await service.approver.get('/v1/approvals?status=pending&limit=200');
  for (const { approval_id } of body.items)
    await service.operator.post(`/v1/approvals/${approval_id}/cancel`);
}

test('an empty queue says so, and when something was decided last', async () => {
  expect(textOf((await finance.get('/console')).html)).toContain(
    'Nothing waits for a decision. Nothing has been decided yet.',
  );
  const id = await ask(service.agent);
  await service.approver.post(`/v1/approvals/${id}/reject`);
  const { decided_at } = (await service.approver.get(`/v1/approvals/${id}`)).body;
  const at = `${decided_at.slice(0, 19).replace('T', ' ')} UTC`;
  const page = (await finance.get('/console')).html;
  expect(textOf(page)).toContain(`Nothing waits for a decision. Last decided ${at}.`);
  expect(rowsOf(page, 'mine')).toStrictEqual([]);
});

describe('the queue', () => {
  test('shows first what needs the reader’s vote, what expires first above, and why the rest does not', async () => {
    const [late, early, both] = [
      await ask(service.agent, refund(9000)),
      await ask(service.agent, refund(9000)),
      await ask(service.agent, refund(200_000)),
    ];
    await expireIn(early, 60);
    await service.approver.post(`/v1/approvals/${both}/approve`);
    const page = (await finance.get('/console')).html;
    expect(rowsOf(page, 'mine')).toStrictEqual([early, late]);
    expect(rowsOf(page, 'others')).toStrictEqual([both]);
    expect(page.indexOf('id="mine"')).toBeLessThan(page.indexOf('id="others"'));
    const row = textOf(partOf(page, `row-${both}`));
    expect(row).toContain('You cannot approve it: your vote is on it already; it waits for others.');
    expect(row).toContain('1 of 2 votes');
    expect(rowsOf((await security.get('/console')).html, 'mine')).toStrictEqual([early, late, both]);
    const others = (await auditor.get('/console')).html;
    expect(rowsOf(others, 'others')).toStrictEqual([early, late, both]);
    expect(textOf(partOf(others, `row-${late}`))).toContain('without the role approver');
    await emptyQueue();
  });

  test('brings identical actions together, each with its number', async () => {
    const same = { ...refund(9000), resource: 'ch_same' };
    const first = await ask(service.agent, same);
    const between = await ask(service.agent, refund(9000));
    const second = await ask(service.agent, same);
    const page = (await finance.get('/console')).html;
    expect(rowsOf(page, 'mine')).toStrictEqual([first, second, between]);
    expect(textOf(partOf(page, `row-${first}`))).toContain('identical action: 1 of 2');
    expect(textOf(partOf(page, `row-${second}`))).toContain('identical action: 2 of 2');
    expect(textOf(partOf(page, `row-${between}`))).not.toContain('identical');
    await emptyQueue();
  });

  test('counts by agent and by tool, each count a link to those', async () => {
    const other = await makeAgent('agent-other');
    const shell = {
      tool: 'shell',
      action: 'exec',
      resource: null,
      mutates_state: true,
      parameters: { command: 'ls' },
    };
    await ask(service.agent, refund(9000));
    await ask(service.agent, shell);
    const theirs = await ask(other, shell);
    const page = (await finance.get('/console')).html;
    const summary = textOf(partOf(page, 'queue-summary'));
    expect(summary).toMatch(
      /3 approvals wait .* Agents all agent-1 2 agent-other 1 Tools all shell 2 stripe 1/,
    );
    expect(page).toContain('href="/console?agent=agent-other"');
    const filtered = (await finance.get('/console?agent=agent-other&tool=shell')).html;
    expect(rowsOf(filtered, 'mine')).toStrictEqual([theirs]);
    expect(textOf(partOf(filtered, 'queue-summary'))).toContain('1 of them are shown');
    const none = (await finance.get('/console?tool=nothing')).html;
    expect(textOf(none)).toContain('Nothing of this tool waits for a decision; 3 of others do.');
    await emptyQueue();
  });

  test('has all of 250 that wait, those of every agent', { timeout: 180_000 }, async () => {
    const agents = [service.agent, await makeAgent('agent-a'), await makeAgent('agent-b')];
    const ids = new Set<string>();
    for (let round = 0; round < 25; round += 1) {
      const made = await Promise.all(
        Array.from({ length: 10 }, (_, index) => ask(agents[index % 3] as ApiClient, refund(9000))),
      );
      for (const id of made) ids.add(id);
    }
    const page = (await finance.get('/console')).html;
    expect(ids.size).toBe(250);
    expect(new Set(rowsOf(page, 'mine'))).toStrictEqual(ids);
    expect(textOf(partOf(page, 'queue-summary'))).toContain('250 approvals wait for a decision.');
    expect(findForeignMarkup(page)).toStrictEqual([]);
    await service.sql`update approvals set status = 'cancelled', decided_at = clock_timestamp(), decided_by = 'x'
      where status = 'pending'`;
  });
});

describe('a script', () => {
  test('gets the page’s content alone, and of the rows those that it asks for', async () => {
    const [first, second] = [await ask(service.agent), await ask(service.agent)];
    const whole = await finance.get('/console?fragment=1');
    expect(whole.headers.get('content-type')).toMatch(/^text\/html/);
    expect(whole.html).toMatch(/^<div id="queue"/);
    expect(rowsOf(whole.html, 'mine')).toStrictEqual([first, second]);
    const one = (await finance.get(`/console?fragment=1&rows=${second}`)).html;
    expect(rowsOf(one, 'mine')).toStrictEqual([second]);
    expect(one).toContain(`data-order="${first} ${second}"`);
    await emptyQueue();
  });

  test('is told what became of a row that waits no more, and by whom', async () => {
    const id = await ask(service.agent);
    await service.approver.post(`/v1/approvals/${id}/reject`);
    const { html } = await finance.get(`/console?fragment=1&rows=${id},apr_nonsense`);
    expect(rowsOf(html, 'mine')).toStrictEqual([]);
    expect(textOf(partOf(html, `row-${id}`))).toMatch(/rejected by approver-1/);
    expect(has(html, 'gone')).toBe(true);
  });

  test('gets those of the same action too, whose numbers have changed', async () => {
    const same = { ...refund(9000), resource: 'ch_alike' };
    const first = await ask(service.agent, same);
    await ask(service.agent, refund(9000));
    const second = await ask(service.agent, same);
    const { html } = await finance.get(`/console?fragment=1&rows=${second}`);
    expect(rowsOf(html, 'mine')).toStrictEqual([first, second]);
    await emptyQueue();
  });

  test('that is not signed in gets a problem, not another page', async () => {
    const response = await fetch(`${service.url}/console?fragment=1`, {
      headers: { accept: 'application/problem+json' },
      redirect: 'manual',
    });
    expect(response.status).toBe(401);
  });

  test('sees a change that was made before it asked, however many ask at once', async () => {
    const asking = async () => {
      const id = await ask(service.agent);
      const pages = await Promise.all(
        Array.from({ length: 5 }, () => finance.get(`/console?fragment=1&rows=${id}`)),
      );
      return pages.every(({ html }) => rowsOf(html, 'mine').includes(id));
    };
    expect(await Promise.all(Array.from({ length: 6 }, asking))).toStrictEqual(Array(6).fill(true));
    await emptyQueue();
  });
});

test('every page of the console is one for who is signed in alone', async () => {
  for (const path of [
    '/console',
    '/console/history',
    '/console/grants',
    '/console/sessions',
    '/console/policy',
  ]) {
    const response = await fetch(service.url + path, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toStrictEqual([
      303,
      `/console/sign-in?return_to=${encodeURIComponent(path)}`,
    ]);
  }
});
