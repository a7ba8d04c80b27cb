import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ask, authorize, refund } from '../support/calls.ts';
import { copyPolicies, type PolicyFolder } from '../support/policies.ts';
import { createTestDatabase } from '../support/test_database.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { aegis } from './support.ts';

let service: TestService;
let dataDir: string;
let allowed: string;
let pending: string;
const candidates: PolicyFolder[] = [];

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'aegis-simulate-'));
  service = await startTestService();
  allowed = (await authorize(service.agent, refund(4000))).body.decision_id;
  await authorize(service.agent, refund(1000));
  // Denied as it was then; no flip under the same folder.
  await authorize(service.agent, refund(8000), { context: { unattended: true } });
  pending = await ask(service.agent, refund(9000));
});
afterAll(async () => {
  await service.close();
  rmSync(dataDir, { recursive: true, force: true });
});
afterEach(() => {
  vi.unstubAllEnvs();
  for (const folder of candidates.splice(0)) folder.remove();
});

function simulate(args: string[], env: Record<string, string> = {}) {
  const own = { DATABASE_URL: service.databaseUrl, AEGIS_DATA_DIR: dataDir };
  for (const [name, value] of Object.entries({ ...own, ...env })) vi.stubEnv(name, value);
  return aegis('policy', 'simulate', ...args);
}

function candidate(replaced: Record<string, string>): string {
  const folder = copyPolicies('stripe.cedar', replaced);
  candidates.push(folder);
  return folder.path;
}

describe('aegis policy simulate', () => {
  test('a folder that is active already flips nothing', async () => {
    const { code, stdout, stderr } = await simulate(['policies']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('4 decisions and 1 open approval decided again, 0 would flip\n');
    expect(stdout).toContain('0 open approvals would be voided\nthe folder is what is active already\n');
  });

  test('a stricter folder flips what it would have decided otherwise, and tells by which policies', async () => {
    const path = candidate({ 'amount <= 5000': 'amount <= 2000' });
    const { code, stdout } = await simulate([path]);
    expect(code).toBe(1);
    expect(stdout).toContain(`${allowed}  allow → deny, decided by no policy\n`);
    expect(stdout).toContain('1 would flip\n0 open approvals would be voided\n');
    const json = JSON.parse((await simulate([path, '--json'])).stdout);
    expect(json).toMatchObject({
      tenant: 'default',
      evaluated: { decisions: 4, approvals: 1 },
      flips: [{ kind: 'decision', id: allowed, from: 'allow', to: 'deny', determining_policies: [] }],
      voided_approvals: 0,
    });
    expect(json.revisions.active).not.toBe(json.revisions.candidate);
  });

  test('an open approval that would be denied is counted as voided', async () => {
    const path = candidate({ 'amount > 5000': 'amount > 9000' });
    const { code, stdout } = await simulate([path]);
    expect(code).toBe(1);
    expect(stdout).toContain(`${pending}  require_approval → deny, decided by no policy\n`);
    expect(stdout).toContain('1 open approval would be voided\n');
  });

  test('a service that voids strictly would void every open approval', async () => {
    const path = candidate({ 'amount <= 5000': 'amount <= 4999' });
    const { stdout } = await simulate([path], { AEGIS_POLICY_DRIFT: 'strict' });
    expect(stdout).toContain('1 open approval would be voided\n');
    expect((await simulate(['policies'], { AEGIS_POLICY_DRIFT: 'strict' })).stdout).toContain(
      '0 open approvals',
    );
  });

  test('writes nothing: the same again gives the same, and the service decides as before', async () => {
    const path = candidate({ 'amount <= 5000': 'amount <= 2000' });
    const first = await simulate([path]);
    expect(await simulate([path])).toEqual(first);
    expect((await authorize(service.agent, refund(4000), { dry_run: true })).body.decision).toBe('allow');
  });

  test('--since and --limit bound what is decided again', async () => {
    expect((await simulate(['policies', '--since', '2099-01-01T00:00:00Z'])).stdout).toContain('0 decisions');
    expect((await simulate(['policies', '--limit', '1'])).stdout).toContain(
      '1 decision and 1 open approval ',
    );
    expect((await simulate(['policies', '--since', '7d'])).stdout).toContain('4 decisions');
  });

  test('a folder that does not load is told as by validate', async () => {
    const path = candidate({ 'context.parameters.amount <= 5000': 'context.parameters.amont <= 5000' });
    const { code, stdout } = await simulate([path]);
    expect(code).toBe(1);
    expect(stdout).toBe((await aegis('policy', 'validate', path)).stdout);
  });

  test('an unknown tenant, and a database that is not there or was never migrated, end with 2 in one line', async () => {
    const empty = await createTestDatabase();
    const ended = [
      await simulate(['policies', '--tenant', 'nowhere']),
      await simulate(['policies'], { DATABASE_URL: 'postgres://me:sesame@127.0.0.1:1/aegis' }),
      await simulate(['policies'], { DATABASE_URL: empty.url }),
      await simulate(['policies'], { DATABASE_URL: '', AEGIS_DATA_DIR: join(dataDir, 'never') }),
    ];
    await empty.drop();
    for (const { code, stdout, stderr } of ended) {
      expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' });
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
      expect(stderr).not.toContain('sesame');
    }
  });
});
