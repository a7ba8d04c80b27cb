import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { authorize, refund } from '../support/calls.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// The cases beside the policies of a folder: a set that does not pass them decides nothing.

const STARTER_SET = fileURLToPath(new URL('../../policies', import.meta.url));
const LOWERED = { 'amount <= 5000': 'amount <= 4999', 'amount > 5000': 'amount > 4999' };
const CASE = 'a refund of 5000 cents is allowed';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'aegis-folder-cases-'));
  cpSync(STARTER_SET, folder, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function edit(file: string, replaced: Record<string, string>): void {
  let text = readFileSync(join(folder, file), 'utf8');
  for (const [from, to] of Object.entries(replaced)) {
    if (!text.includes(from)) throw new Error(`\`${file}\` has no \`${from}\``);
    text = text.replace(from, to);
  }
  writeFileSync(join(folder, file), text);
}

const start = () => startTestService({ env: { AEGIS_POLICY_DIR: folder } });
const ready = async (service: TestService) => (await service.anonymous.get('/readyz')).body;
const decide = async (service: TestService): Promise<string> =>
  (await authorize(service.agent, refund(5000))).body.decision;

test('a running service keeps its rules when a case fails, names it, and follows once the case is corrected', async () => {
  const service = await start();
  try {
    const before = await ready(service);
    edit('stripe.cedar', LOWERED);
    await vi.waitFor(
      async () =>
        expect(await ready(service)).toMatchObject({
          status: 'ready',
          policy_revision: before.policy_revision,
          policy_problem: expect.stringContaining(
            `former rules decide: cases/stripe.json: case \`${CASE}\`: expected allow`,
          ),
        }),
      { timeout: 15_000, interval: 100 },
    );
    expect(await decide(service)).toBe('allow');
    expect(service.logged).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringMatching(/folder was not taken/) }),
    );

    // The limit the cases speak of is the new one.
    edit('cases/stripe.json', { '"amount": 5000,': '"amount": 4999,' });
    await vi.waitFor(async () => expect(await decide(service)).toBe('require_approval'), {
      timeout: 15_000,
      interval: 100,
    });
    expect(await ready(service)).toMatchObject({ policy_problem: null });
  } finally {
    await service.close();
  }
});

test('a service does not start for the first time with a folder of which a case fails', async () => {
  edit('stripe.cedar', LOWERED);

  await expect(start()).rejects.toThrow(/^cases\/stripe\.json: case `a refund of 5000 cents is allowed`: /);
});
