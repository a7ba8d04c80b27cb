import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { expire, newAgent, ROOMY } from '../contract/support.ts';
import { ask, askApproved, refund } from '../support/calls.ts';
import { command } from '../support/commands.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { type At, approvals, UNSAFE } from './approvals_support.ts';

vi.setConfig({ testTimeout: 90_000 });

let service: TestService;
let at: At;
beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
  at = { url: service.url, token: service.tokens.APPROVER };
});
afterAll(() => service.close());

const linesOf = (text: string): string[] => text.trimEnd().split('\n');
const idsOf = (text: string): string[] =>
  linesOf(text)
    .slice(1)
    .map((line) => line.split(' ')[0] ?? '');

describe('aegis approvals list', () => {
  test('of nothing says so, and is an empty array as JSON', async () => {
    const none = ['--agent', 'nobody', '--tool', 'stripe'];
    expect(await approvals(at, 'list', ...none)).toEqual({
      code: 0,
      stdout: 'no pending approvals of agent `nobody` of tool `stripe` that this key may see\n',
      stderr: '',
    });
    expect(await approvals(at, 'list', ...none, '--json')).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
  });

  test('shows what is pending with whole ids, time left and votes, what expires first above', async () => {
    const agent = await newAgent(service);
    const large = refund(200_000);
    const later = await ask(agent.client, large);
    const sooner = await ask(agent.client, command('git push --force origin main'));
    await askApproved(agent.client, service.approver);
    await service.sql`update approvals set expires_at = clock_timestamp() + interval '90 seconds'
      where approval_id = ${sooner.slice(4)}`;
    await service.approver.post(`/v1/approvals/${later}/approve`);

    const { code, stdout, stderr } = await approvals(at, 'list', '--agent', agent.principal);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [head, ...rows] = linesOf(stdout).map((line) => line.split(/ {2,}/));
    expect(head).toEqual(['ID', 'LEFT', 'VOTES', 'AGENT', 'ACTION', 'WHAT']);
    expect(rows).toEqual([
      [sooner, '1m', '0/1', agent.principal, 'shell/exec', 'git push --force origin main'],
      [later, expect.stringMatching(/^(29|30)m$/), '1/2', agent.principal, 'stripe/refund', large.resource],
    ]);
  });

  test('fits into a terminal of 80 columns, with ids whole and `…` where a cell is cut', async () => {
    const agent = await newAgent(service);
    const ids = [await ask(agent.client), await ask(agent.client, command(`echo ${'long '.repeat(100)}`))];
    for (const columns of [20, 80, 100, 120]) {
      const { stdout } = await approvals({ ...at, columns }, 'list', '--agent', agent.principal);
      const lines = linesOf(stdout);
      expect(idsOf(stdout).sort()).toEqual(ids.toSorted());
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(Math.max(columns, 80));
      expect(lines[1]).toContain('…');
      expect(lines[0]?.includes('WHAT')).toBe(columns >= 100);
    }
  });

  test('shows every one of 120 over all pages, once', async () => {
    const agent = await newAgent(service);
    const ids: string[] = [];
    while (ids.length < 120) {
      ids.push(...(await Promise.all(Array.from({ length: 8 }, () => ask(agent.client)))));
    }
    const shown = await approvals(at, 'list', '--agent', agent.principal);
    const { stdout } = await approvals(at, 'list', '--agent', agent.principal, '--json');

    expect(idsOf(shown.stdout).sort()).toEqual(ids.toSorted());
    const items = JSON.parse(stdout) as { approval_id: string; review: object }[];
    expect(items.map((item) => item.approval_id).sort()).toEqual(ids.toSorted());
  });

  test('filters by status and tool, and names the status where there are several', async () => {
    const agent = await newAgent(service);
    const [pending, approved, expired, shell] = [
      await ask(agent.client),
      await askApproved(agent.client, service.approver),
      await ask(agent.client),
      await ask(agent.client, command('ls')),
    ];
    await expire(service, expired);
    const own = ['--agent', agent.principal];
    const list = async (...args: string[]) => (await approvals(at, 'list', ...own, ...args)).stdout;

    expect(idsOf(await list('--tool', 'stripe'))).toEqual([pending]);
    expect(idsOf(await list('--status', 'approved'))).toEqual([approved]);
    expect(linesOf(await list('--status', 'expired'))[0]).toMatch(/^ID +VOTES +AGENT/);
    const all = linesOf(await list('--status', 'all')).map((line) => line.split(/ {2,}/).slice(0, 2));
    expect(all).toEqual([
      ['ID', 'STATUS'],
      [shell, expect.stringMatching(/^pending (29|30)m$/)],
      [expired, 'expired'],
      [approved, expect.stringMatching(/^approved (29|30)m$/)],
      [pending, expect.stringMatching(/^pending (29|30)m$/)],
    ]);
  });

  test('shows an agent its own alone', async () => {
    const agent = await newAgent(service);
    const id = await ask(agent.client);
    const { code, stdout } = await approvals({ url: service.url, token: agent.token }, 'list');
    expect({ code, ids: idsOf(stdout) }).toEqual({ code: 0, ids: [id] });
  });

  test('lets no text act on the terminal, hide or reorder what is shown', async () => {
    const agent = await newAgent(service);
    const { strings } = JSON.parse(
      readFileSync(new URL('../vectors/unicode/big-list-of-naughty-strings.json', import.meta.url), 'utf8'),
    ) as { strings: string[] };
    const texts = [
      'a\u001b[2Jb',
      'a\u202eb',
      'a\u200bb',
      'one\ntwo',
      ...strings.filter((text) => /[^ -~]/.test(text)),
    ];
    for (const resource of texts.slice(0, 40)) await ask(agent.client, { ...refund(9000), resource });
    for (const text of texts.slice(0, 4)) await ask(agent.client, command(`echo ${text}`));

    for (const columns of [undefined, 80, 120]) {
      const where = columns === undefined ? at : { ...at, columns };
      const { stdout } = await approvals(where, 'list', '--agent', agent.principal);
      expect(stdout).not.toMatch(UNSAFE);
      expect(linesOf(stdout)).toHaveLength(45);
    }
    const { stdout } = await approvals(at, 'list', '--agent', agent.principal);
    for (const shown of ['a\\u{1b}[2Jb', 'a\\u{202e}b', 'a\\u{200b}b', 'one\\u{a}two']) {
      expect(stdout).toContain(`  ${shown}\n`);
      expect(stdout).toContain(`  echo ${shown}\n`);
    }
    const json = await approvals(at, 'list', '--agent', agent.principal, '--json');
    expect(json.stdout).not.toMatch(UNSAFE);
    const items = JSON.parse(json.stdout) as { tool_call: { resource: string | null } }[];
    expect(items.map((item) => item.tool_call.resource)).toEqual(expect.arrayContaining(texts.slice(0, 40)));
  });
});
