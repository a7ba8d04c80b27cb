import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type Checkout,
  type FirstKeys,
  makeCheckout,
  npmStart,
  readFirstKeys,
  type StartedService,
} from './fixtures/checkout.ts';
import { ApiClient } from './support/api_client.ts';
import { askApproved } from './support/calls.ts';

const isRoot = process.geteuid?.() === 0;
const nobody = { uid: 65534, gid: 65534 };
const canBeNobody = isRoot && spawnSync('npm', ['--version'], { ...nobody, cwd: '/' }).status === 0;
if (!isRoot) console.warn('SKIPPED: `npm start` as root needs root');
if (!canBeNobody)
  console.warn('SKIPPED: `npm start` as another user needs root and an npm that any user may run');

const SECONDS_MAX = 30;

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const writers = [
  ...(isRoot ? [{ who: 'root', account: undefined }] : [{ who: 'an ordinary user', account: undefined }]),
  ...(canBeNobody ? [{ who: 'an ordinary user', account: nobody }] : []),
];

/** Each test goes on where the one before it ended. */
describe.each(writers)('npm start in a fresh clone, as $who', ({ who, account }) => {
  let checkout: Checkout;
  let service: StartedService;
  let keys: FirstKeys;
  let approved: string;

  const as = (token: string) => new ApiClient(service.url, token);
  const start = async (what: string): Promise<void> => {
    service = await npmStart(checkout);
    console.log(`npm start as ${who}, ${what}: ready after ${service.seconds.toFixed(1)} s`);
    expect(service.seconds).toBeLessThan(SECONDS_MAX);
  };

  beforeAll(() => {
    checkout = makeCheckout(account);
  });
  afterAll(async () => {
    await service?.kill().catch(() => undefined); // there is one only where a test failed
    const id = join(checkout.folder, '.aegis/instance-id');
    if (existsSync(id)) {
      rmSync(join('/var/lib/aegis', readFileSync(id, 'utf8').trim()), { recursive: true, force: true });
    }
    checkout.remove();
  });

  test('the folder is as it should be: closed to others for this user, modules read-only for another', () => {
    const parent = statSync(join(checkout.folder, '..'));
    expect(parent.mode & 0o077).toBe(account === undefined ? 0 : 0o055);
    const writable = spawnSync('test', ['-w', join(checkout.folder, 'node_modules')], { ...account });
    expect(writable.status).toBe(isRoot && account === undefined ? 0 : 1);
  });

  test('the first start names its URL and the file of the first keys, which only its user reads', async () => {
    await start('first');
    expect(service.lines.at(-2)).toBe('first keys: .aegis/first-keys.json');
    expect(service.lines.at(-1)).toBe(
      `Aegis is ready at ${service.url} (console: ${service.url}/console, API page: ${service.url}/docs)`,
    );
    expect(statSync(join(checkout.folder, '.aegis/first-keys.json')).mode & 0o777).toBe(0o600);
    keys = readFirstKeys(checkout, '.aegis/first-keys.json');
    const { body } = await as(keys.OPERATOR).get('/v1/me');
    expect(body).toMatchObject({ tenant_id: 'default', principal: 'operator-1', roles: ['operator'] });
    approved = await askApproved(as(keys.AGENT), as(keys.APPROVER));
  });

  test('a signal to npm stops the service, and a second start serves the same keys and approvals', async () => {
    await service.stop();
    expect(() => process.kill(service.pid, 0)).toThrow('ESRCH');
    await start('again');
    expect(service.lines).toContain('first keys, made at an earlier start: .aegis/first-keys.json');
    const { body } = await as(keys.APPROVER).get(`/v1/approvals/${approved}`);
    expect(body.status).toBe('approved');
  });

  test('NOTHING LOST: after kill -9 of the service the next start has what was answered', async () => {
    await service.kill();
    await start('after kill -9');
    const consume = `/v1/approvals/${approved}/consume`;
    expect((await as(keys.AGENT).post(consume)).status).toBe(200);
    expect((await as(keys.AGENT).post(consume)).body.code).toBe('approval_already_consumed');
    await service.stop();
  });
});
