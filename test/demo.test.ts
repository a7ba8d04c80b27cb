import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { startTestService, type TestService } from './support/test_service.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

let service: TestService | undefined;
afterEach(async () => {
  await service?.close();
  service = undefined;
});

/** Runs the README's command with these variables beside the usual ones. */
function runDemo(env: Record<string, string> = {}): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const options = { cwd: ROOT, env: { ...process.env, NO_COLOR: '1', ...env } };
    execFile('npm', ['run', '--silent', 'demo'], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}

const ENDINGS = [
  'the swapped action is refused, and spends nothing',
  'what was approved is what ran: 90.00 usd, once',
  'all 20 are refused: an approval is good for one run',
  'the refund ran once',
  'the sdk tells the agent: expired',
  'a late consume is refused',
  'nothing was written',
  'the editor alone could not let it through',
  'the edited parameters ran: 40.00 usd, once',
  'the repeat with its own token is answered, as a replay',
  'the refund ran once',
  'its outcome is on record',
];

function endings(output: string): string[] {
  return [...output.matchAll(/✓ (.+)/g)].map(([, ending]) => ending as string);
}

it('the demo starts a service of its own, and every scene ends as told', async () => {
  const { code, output } = await runDemo();
  expect(endings(output), output).toStrictEqual(ENDINGS);
  expect(output).not.toContain('✗');
  expect(output).not.toContain('\u001b');
  expect(code).toBe(0);
}, 60_000);

it('the demo plays against a running service, and waits for no expiry there', async () => {
  service = await startTestService();
  const { AGENT, APPROVER, APPROVER2 } = service.tokens;
  const { code, output } = await runDemo({ AEGIS_URL: service.url, AGENT, APPROVER, APPROVER2 });
  expect(output).toContain('not waited for');
  expect(endings(output)).toHaveLength(ENDINGS.length - 3);
  expect(code, output).toBe(0);
}, 60_000);

it('the demo fails when a scene does not end as told', async () => {
  service = await startTestService();
  const { AGENT, APPROVER } = service.tokens;
  const { code, output } = await runDemo({ AEGIS_URL: service.url, AGENT, APPROVER, APPROVER2: APPROVER });
  expect(output).not.toContain('Every scene ended as told');
  expect(code).toBe(1);
}, 60_000);

it.each([
  ['no service answers', { AGENT: 'a', APPROVER: 'b', APPROVER2: 'c' }],
  ['not all keys are', {}],
  ['must be the http or https address', { AEGIS_URL: 'localhost:9' }],
])(
  'the demo says what to do where it cannot begin: %s',
  async (said, keys) => {
    const { code, output } = await runDemo({ AEGIS_URL: 'http://127.0.0.1:9', ...keys });
    expect(output.trim().split('\n')).toStrictEqual([expect.stringContaining(said)]);
    expect(code).toBe(1);
  },
  60_000,
);
