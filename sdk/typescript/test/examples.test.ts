import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { startTestService, type TestService } from '../../../test/support/test_service.ts';
import { decideAll } from '../examples/approver.ts';
import { commandTool } from '../examples/command.ts';
import { finish, start } from '../examples/resume.ts';
import { Aegis, type Approval, type PendingApproval } from '../src/index.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());
afterEach(() => {
  vi.unstubAllEnvs();
});

const clientOf = (key: string) => new Aegis({ baseUrl: service.url, key });

test('the refund example hands the model a result, or the reason there is none', async () => {
  vi.stubEnv('AEGIS_URL', service.url);
  vi.stubEnv('AGENT', service.tokens.AGENT);
  const { refundTool } = await import('../examples/refund.ts');
  expect(JSON.parse(await refundTool({ amount: 1200, currency: 'usd' }))).toEqual({
    refunded: 1200,
    currency: 'usd',
    run: expect.stringMatching(/^dec_/),
  });
  // The starter set registers whole cents.
  expect(await refundTool({ amount: 0.5, currency: 'usd' })).toMatch(/not|denied/);
});

test('what the resume example left pending is approved by the approver example, and finished', async () => {
  const stored = (await start(clientOf(service.tokens.AGENT), 'notes.txt', 'hello')) as PendingApproval;
  expect(stored.approval_id).toMatch(/^apr_/);
  const decided = await decideAll(
    clientOf(service.tokens.APPROVER),
    (text) => text === stored.canonical_action,
  );
  expect(decided.map(({ status }) => status)).toEqual(['approved']);
  expect(await finish(clientOf(service.tokens.AGENT), stored)).toBe('notes.txt: 5 characters');
});

test('the command example runs what was approved, and hands the model its output', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aegis-example-'));
  const run = commandTool(clientOf(service.tokens.AGENT), folder);
  const approver = clientOf(service.tokens.APPROVER);
  /** Decides the one pending approval, as soon as there is one. */
  const decide = async (yes: boolean) => {
    const decided = await vi.waitFor(async () => {
      const all = await decideAll(approver, () => yes);
      if (all.length === 0) throw new Error('nothing is pending yet');
      return all;
    }, 20_000);
    expect(decided).toHaveLength(1);
    return decided[0];
  };
  const approved = run(['sh', '-c', 'echo building; echo "no such target" >&2; exit 2']);
  const { approval_id } = (await decide(true)) as Approval;
  expect(await approved).toBe('building\nno such target\n[exit status 2]');
  expect(await approver.getApproval(approval_id)).toMatchObject({
    status: 'consumed',
    tool_call: { parameters: { cwd: folder } },
    outcome: { outcome: 'failed', effect: 'unknown', detail: 'exit status 2' },
  });
  const rejected = run(['touch', 'file']);
  await decide(false);
  expect(await rejected).toContain('a person rejected it');
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

test('the approver example rejects a text that does not look right', async () => {
  const stored = (await start(clientOf(service.tokens.AGENT), 'notes.txt', 'bye')) as PendingApproval;
  await decideAll(clientOf(service.tokens.APPROVER), () => false);
  await expect(finish(clientOf(service.tokens.AGENT), stored)).rejects.toMatchObject({
    code: 'rejected',
    reason: 'not what was agreed',
  });
});
