import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readApproval } from '../contract/support.ts';
import { ask } from '../support/calls.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

const AEGIS = join(fileURLToPath(new URL('../..', import.meta.url)), 'dist/aegis.js');
const HAS_SCRIPT = spawnSync('script', ['--version']).status === 0;

// Every test starts processes, each of which loads the whole command.
vi.setConfig({ testTimeout: 120_000 });

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

interface Process {
  child: ChildProcessByStdio<Writable, Readable, Readable>;
  said: { stdout: string; stderr: string };
  ended: Promise<number | null>;
}

function startProcess(file: string, args: string[]): Process {
  const { PATH } = process.env;
  const env = { PATH, AEGIS_URL: service.url, AEGIS_KEY: service.tokens.APPROVER };
  const child = spawn(file, args, { env, stdio: 'pipe' });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (bytes: Buffer) => {
    said.stdout += bytes.toString();
  });
  child.stderr.on('data', (bytes: Buffer) => {
    said.stderr += bytes.toString();
  });
  return { child, said, ended: once(child, 'close').then(([code]) => code as number | null) };
}

/** `aegis approvals …` as a process of its own, without a terminal. */
const aegis = (...args: string[]): Process => startProcess(process.execPath, [AEGIS, 'approvals', ...args]);

/** The same on a pseudo-terminal, whose output is all on stdout. */
const onTerminal = (...args: string[]): Process =>
  startProcess('script', [
    '-qec',
    ['exec', process.execPath, AEGIS, 'approvals', ...args].join(' '),
    '/dev/null',
  ]);

const untilSaid = ({ said }: Process, text: string | RegExp): Promise<void> =>
  expect.poll(() => said.stdout, { timeout: 60_000, interval: 20 }).toMatch(text);

describe('aegis approvals as a process', () => {
  test('lists, and needs `--view-hash` where there is no terminal', async () => {
    const id = await ask(service.agent);
    const list = aegis('list');
    expect(await list.ended).toBe(0);
    expect(list.said.stderr).toBe('');
    expect(list.said.stdout).toMatch(new RegExp(`^ID .*\\n(.*\\n)*${id} `));
    const refused = aegis('approve', id);
    expect(await refused.ended).toBe(2);
    expect(refused.said).toEqual({ stdout: '', stderr: expect.stringMatching(/Give `--view-hash`/) });
    const { review } = await readApproval(service.approver, id);
    const approve = aegis('approve', id, '--view-hash', review.view_hash);
    expect(await approve.ended).toBe(0);
    expect(approve.said.stdout).toContain(`${id}\nstatus: approved`);
    const late = aegis('reject', id);
    expect(await late.ended).toBe(1);
    expect(late.said.stderr).toMatch(/approval_already_decided/);
  });

  test('watch ends with 0 at SIGINT', async () => {
    const watching = aegis('watch');
    const id = await ask(service.agent);
    await untilSaid(watching, id);
    watching.child.kill('SIGINT');
    expect(await watching.ended).toBe(0);
    expect(watching.said.stderr).toBe('');
  });
});

describe.skipIf(!HAS_SCRIPT)('on a real terminal', () => {
  test('approve shows the view, asks, and votes at `y`', async () => {
    const id = await ask(service.agent);
    const approving = onTerminal('approve', id);
    await untilSaid(approving, /Approve exactly this\? \[y\/N\] /);
    expect(approving.said.stdout).toContain('/parameters/amount: 9000');
    expect((await readApproval(service.approver, id)).votes).toEqual([]);
    approving.child.stdin.write('y\r');
    expect(await approving.ended).toBe(0);
    expect(approving.said.stdout).toMatch(new RegExp(`\\n${id}\\r\\nstatus: approved`));
    expect((await readApproval(service.approver, id)).status).toBe('approved');
  });

  test.each([
    ['n', 'n\r'],
    ['nothing', '\r'],
    ['an interrupt', '\u0003'],
    ['the end of input', '\u0004'],
  ])('%s is a no: 1, and nothing is voted', async (_, typed) => {
    const id = await ask(service.agent);
    const approving = onTerminal('approve', id);
    await untilSaid(approving, /Approve exactly this\? \[y\/N\] /);
    approving.child.stdin.write(typed);
    expect(await approving.ended).toBe(1);
    expect(approving.said.stdout).toMatch(/\nnothing was voted\r\n$/);
    expect((await readApproval(service.approver, id)).votes).toEqual([]);
  });

  test('list cuts lines to the terminal’s columns', async () => {
    const id = await ask(service.agent);
    const { said, ended } = onTerminal('list', '--agent', 'agent-1', '--status', 'pending');
    expect(await ended).toBe(0);
    const lines = said.stdout.trimEnd().split('\r\n');
    expect(lines.some((line) => line.startsWith(id))).toBe(true);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });
});
