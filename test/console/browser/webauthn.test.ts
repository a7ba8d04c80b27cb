import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runGroup } from '../../../src/cli/command.ts';
import { VERIFY_VOTE } from '../../../src/cli/verify_vote.ts';
import { makeFolder } from '../../cli/support.ts';
import { newApprover, readApproval } from '../../contract/support.ts';
import { askForSignatures, askSigned, newCode } from '../../contract/webauthn_support.ts';
import { chromiumPath, launchBrowser } from '../../support/browser.ts';
import { ask } from '../../support/calls.ts';
import { startTestService, type TestService } from '../../support/test_service.ts';

// Passkeys in a real browser, with Chromium's own authenticator in software.

const WAIT_MS = 30_000;
let service: TestService;
let browser: Browser;
let page: Page;
let devtools: CDPSession;
let authenticatorId: string;
let approver: Awaited<ReturnType<typeof newApprover>>;
/** Passkeys are for a name: the service listens on this machine, and is opened by the name of it. */
let origin: string;

async function addAuthenticator(): Promise<string> {
  const added = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return added.authenticatorId;
}

async function signIn(key: string): Promise<void> {
  await page.goto(`${origin}/console/sign-in`);
  await page.locator('input[name="key"]').fill(key);
  await page.locator('form:has(input[name="key"]) button[type="submit"]').click();
  await page.waitForURL(`${origin}/console`);
}

describe.skipIf(chromiumPath === undefined)('in a browser', () => {
  beforeAll(async () => {
    service = await startTestService();
    origin = `http://localhost:${new URL(service.url).port}`;
    await askForSignatures(service.operator);
    approver = await newApprover(service);
    browser = await launchBrowser();
    page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(WAIT_MS);
    devtools = await page.context().newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    authenticatorId = await addAuthenticator();
    await signIn(approver.token);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await service?.close();
  }, 60_000);

  test('a first passkey is registered with a code', async () => {
    await page.goto(`${origin}/console/passkeys`);
    await page.locator('#code').fill(await newCode(service, approver.principal));
    await page.locator('#label').fill('this laptop');
    await page.locator('#add-button:enabled').click();
    await page.waitForURL(`${origin}/console/passkeys?after=add`);
    expect(await page.locator('main').textContent()).toContain('this laptop');
    const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId });
    const { body } = await approver.client.get('/v1/webauthn/passkeys');
    expect(body.items).toMatchObject([{ label: 'this laptop', principal: approver.principal }]);
    expect(credentials.map(({ rpId }) => rpId)).toEqual(['localhost']);
  }, 120_000);

  test('a wrong code is refused in words, and makes no passkey', async () => {
    const other = await newApprover(service);
    const context = await browser.newContext();
    const mine = page;
    page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    await signIn(other.token);
    await page.goto(`${origin}/console/passkeys`);
    await page.locator('#code').fill('wrong');
    await page.locator('#add-button:enabled').click();
    await page.locator('[data-passkey-says]').waitFor();
    expect(await page.locator('[data-passkey-says]').textContent()).toMatch(
      /^Nothing was sent: the enrolment code/,
    );
    await context.close();
    page = mine;
    expect((await other.client.get('/v1/webauthn/passkeys')).body.items).toEqual([]);
  }, 120_000);

  test('an approval that wants a signature is approved with it, and the vote verifies without the service', async () => {
    const id = await askSigned(service);
    await page.goto(`${origin}/console/approvals/${id}`);
    await page.locator('#approve-button:enabled').click();
    await page.waitForURL(/after=approve/);
    const approval = await readApproval(service.approver, id);
    expect(approval).toMatchObject({
      status: 'approved',
      votes: [{ approver: approver.principal, signature: { rp_id: 'localhost', origin } }],
    });
    const folder = makeFolder();
    const file = folder.write('approval.json', JSON.stringify(approval));
    const lines: string[] = [];
    const terminal = {
      print: (text: string) => void lines.push(text),
      complain: (text: string) => void lines.push(text),
      paint: (_: string, text: string) => text,
    };
    expect(await runGroup(VERIFY_VOTE, ['verify-vote', file], terminal), lines.join('\n')).toBe(0);
    folder.remove();
  }, 120_000);

  test('a vote that nobody wants signed is signed when its approver chooses to', async () => {
    for (const isSigned of [true, false]) {
      const id = await ask(service.agent);
      await page.goto(`${origin}/console/approvals/${id}`);
      if (isSigned) await page.locator('#reject-form [data-passkey-choice]').check();
      await page.locator('#reject-button').click();
      await page.waitForURL(/after=reject/);
      const { status, votes } = await readApproval(service.approver, id);
      expect(status).toBe('rejected');
      expect(votes[0].signature !== undefined).toBe(isSigned);
    }
  }, 120_000);

  test('a user whom the authenticator does not verify signs nothing, and is told so', async () => {
    const id = await askSigned(service);
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await page.goto(`${origin}/console/approvals/${id}`);
    await page.locator('#approve-button:enabled').click();
    await page.locator('[data-passkey-says]').waitFor();
    expect(await page.locator('[data-passkey-says]').textContent()).toContain('was not used');
    expect(await readApproval(service.approver, id)).toMatchObject({ status: 'pending', votes: [] });
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await page.locator('#approve-button:enabled').click();
    await page.waitForURL(/after=approve/);
    expect(await readApproval(service.approver, id)).toMatchObject({ status: 'approved' });
  }, 120_000);

  test('a removed passkey is no longer listed, and the next one needs a code', async () => {
    await page.goto(`${origin}/console/passkeys`);
    await page.getByRole('button', { name: 'Remove the passkey this laptop' }).click();
    await page.waitForURL(`${origin}/console/passkeys?after=remove`);
    expect(await page.locator('#code').count()).toBe(1);
    expect((await approver.client.get('/v1/webauthn/passkeys')).body.items).toEqual([]);
  }, 120_000);
});
