import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readApproval } from '../../contract/support.ts';
import { chromiumPath, launchBrowser } from '../../support/browser.ts';
import { ask, makeKey, refund } from '../../support/calls.ts';
import { putTool, RELEASE, release } from '../../support/rules.ts';
import { startTestService, type TestService } from '../../support/test_service.ts';
import {
  approvalPath,
  type ConsoleUser,
  focusedId,
  openPerson,
  openSignedIn,
  openUser,
  originOf,
  signInAs,
  TEST_MS,
  textOf,
} from './console_user.ts';

// Deciding in a real browser, as different people.

const RESULT_OF_A_REFUSED_FORM = /status of 4(00|22)/;
let service: TestService;
let browser: Browser;
let origin: string;
let finance: ConsoleUser;
let security: ConsoleUser;

function read(id: string) {
  return readApproval(service.approver, id);
}

describe.skipIf(chromiumPath === undefined)('in a browser', { timeout: TEST_MS }, () => {
  beforeAll(async () => {
    service = await startTestService({ env: { AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '1000' } });
    origin = originOf(service);
    await putTool(service.operator, 'disk', 'wipe', {
      ...{ mutates_state: true, destructive: true, permission: 'ask' },
    });
    await putTool(service.operator, 'deploy', 'release', { ...RELEASE, permission: 'ask' });
    browser = await launchBrowser();
    finance = await openSignedIn(browser, origin, service.tokens.APPROVER);
    security = await openSignedIn(browser, origin, service.tokens.APPROVER2);
  }, TEST_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  }, TEST_MS);
  afterEach(() => {
    const complaints = [finance, security].flatMap((user) => user.complaints.splice(0));
    for (const user of [finance, security]) user.tolerate();
    expect(complaints).toStrictEqual([]);
  });

  test('a wrong key is told so, and the right one signs in until the sign-out, after which no page is left', async () => {
    const user = await openUser(browser, origin);
    user.tolerate(/status of 401/);
    await user.open('/console/history');
    await user.page.getByLabel('Key').fill('aeg_key_of_nobody');
    await user.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    expect(await textOf(user.page, '[role="alert"]')).toMatch(/^This key is not known/i);
    await signInAs(user, service.tokens.APPROVER, '/console/history');
    expect(await textOf(user.page, '.who')).toContain('approver-1');
    await user.page.getByRole('button', { name: 'Sign out' }).click();
    await user.page.waitForURL(`${origin}/console/sign-in?signed_out=1`);
    await user.page.goBack();
    await user.page.getByLabel('Key').waitFor();
    expect(await user.page.locator('.who').count()).toBe(0);
    expect(user.complaints).toStrictEqual([]);
    await user.context.close();
  });

  test('an approval is found, read and approved by keys alone', async () => {
    const { page } = finance;
    const [first, second] = [await ask(service.agent), await ask(service.agent)];
    await finance.open('/console');
    const focusedRow = () =>
      page.evaluate(() => document.activeElement?.closest('li')?.dataset.approval ?? null);
    for (const [key, row] of [
      ['j', first],
      ['j', second],
      ['j', second],
      ['k', first],
    ] as const) {
      await page.keyboard.press(key);
      expect(await focusedRow()).toBe(row);
    }
    await page.keyboard.press('Enter');
    await page.waitForURL(origin + approvalPath(first));
    await page.keyboard.press('a');
    expect(await focusedId(page)).toBe('approve-reason');
    await page.keyboard.type('checked: a, j and r are letters here');
    await page.keyboard.press('Tab');
    expect(await focusedId(page)).toBe('approve-button');
    expect((await read(first)).status).toBe('pending');
    await page.keyboard.press('Enter');
    await page.waitForURL(/after=approve/);
    expect(await textOf(page, '#became h2')).toBe('Approved, with your vote');
    expect(await read(first)).toMatchObject({
      ...{ status: 'approved', decided_by: 'approver-1' },
      votes: [{ reason: 'checked: a, j and r are letters here' }],
    });
    await page.keyboard.press('g');
    await page.keyboard.press('q');
    await page.waitForURL(`${origin}/console`);
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    await page.waitForURL(`${origin}${approvalPath(second)}#to-approve`);
    expect(await focusedId(page)).toBe('approve-reason');
    expect((await read(second)).status).toBe('pending');
  });

  test('an approval is rejected with a reason, which the agent gets', async () => {
    const { page } = security;
    const id = await ask(service.agent);
    await security.open(approvalPath(id));
    await page.keyboard.press('r');
    expect(await focusedId(page)).toBe('reject-reason');
    await page.keyboard.type('not without a ticket');
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.waitForURL(/after=reject/);
    expect(await textOf(page, '#became h2')).toBe('You rejected it');
    expect((await service.agent.get(`/v1/approvals/${id}`)).body).toMatchObject({
      ...{ status: 'rejected', decided_by: 'approver-2', decision_reason: 'not without a ticket' },
    });
  });

  test('an edit that cannot be taken loses nothing, and one that can is approved by somebody else who sees what differs', async () => {
    finance.tolerate(RESULT_OF_A_REFUSED_FORM);
    const { page } = finance;
    const id = await ask(service.agent, refund(9000, { memo: 'for the broken lamp' }));
    await finance.open(approvalPath(id));
    await page.keyboard.press('e');
    expect(await focusedId(page)).toBe('parameters');
    const parameters = page.locator('#parameters');
    const original = await parameters.inputValue();
    const broken = `${original.replace('9000', '8000').trimEnd().slice(0, -1)}, "note" "again"}`;
    await parameters.fill(broken);
    await page.locator('#edit-reason').fill('one lamp was whole');
    await page.locator('#edit-button').click();
    await page.locator('#edit-refusal').waitFor();
    expect(await textOf(page, '#refusal h2')).toBe('It was not edited');
    expect(await textOf(page, '#edit-refusal')).toMatch(/is not JSON from here on/i);
    expect(await parameters.isVisible()).toBe(true);
    expect(await parameters.inputValue()).toBe(broken);
    expect(await page.locator('#edit-reason').inputValue()).toBe('one lamp was whole');
    expect(await read(id)).toMatchObject({ status: 'pending', version: 1 });
    await parameters.fill(original.replace('9000', '8000'));
    await page.locator('#edit-button').click();
    await page.waitForURL(/after=edit/);
    expect(await textOf(page, '#became h2')).toBe('Your edit is saved');
    expect(await page.locator('#approve-button').isDisabled()).toBe(true);
    expect(await textOf(page, '#approve-button-why')).toContain(
      'Whoever edited this approval does not approve it',
    );
    await security.open(approvalPath(id));
    const change = security.page.locator('.edits tbody tr');
    expect(await change.count()).toBe(1);
    expect(await change.locator('th').textContent()).toBe('/parameters/amount');
    expect(await change.locator('del').textContent()).toBe('9000');
    expect(await change.locator('ins').textContent()).toBe('8000');
    await security.page.locator('#approve-button').click();
    await security.page.waitForURL(/after=approve/);
    expect(await read(id)).toMatchObject({
      ...{ status: 'approved', decided_by: 'approver-2' },
      tool_call: { parameters: { amount: 8000, memo: 'for the broken lamp' } },
    });
  });

  test('what cannot be undone is approved by typing its name, and by nothing else', async () => {
    finance.tolerate(RESULT_OF_A_REFUSED_FORM);
    const { page } = finance;
    const id = await ask(service.agent, {
      ...{ tool: 'disk', action: 'wipe', resource: 'volume-7', mutates_state: true, parameters: {} },
    });
    await finance.open(approvalPath(id));
    const typed = page.getByLabel(/type the resource's name: volume-7/);
    await page.locator('#approve-button').click();
    expect(page.url()).toBe(origin + approvalPath(id));
    await typed.fill('volume-8');
    await page.locator('#approve-button').click();
    await page.locator('#refusal').waitFor();
    expect(await textOf(page, '#refusal h2')).toBe('It was not approved');
    expect(await read(id)).toMatchObject({ status: 'pending', votes: [] });
    await typed.fill('volume-7');
    await page.locator('#approve-button').click();
    await page.waitForURL(/after=approve/);
    expect((await read(id)).status).toBe('approved');
  });

  test('a yes is widened by choosing so, and what that takes is asked for only then', async () => {
    const { page } = finance;
    const id = await ask(service.agent, release('checkout'), { session_id: 'train-42' });
    await finance.open(approvalPath(id));
    expect(await page.locator('#scope-once').isChecked()).toBe(true);
    expect(await page.locator('#window-seconds').isVisible()).toBe(false);
    await page.getByLabel('for a while, and so many times').check();
    await page.locator('#window-seconds').fill('600');
    await page.locator('#max-uses').fill('3');
    await page.locator('#approve-button').click();
    await page.waitForURL(/after=approve/);
    expect(await read(id)).toMatchObject({ status: 'approved' });
    await finance.open('/console/grants');
    expect(await textOf(page, 'main')).toMatch(/deploy.*0 of 3/);
  });

  test('who cannot decide finds the button disabled, with the reason beside it', async () => {
    const needsSecurity = await ask(service.agent, refund(200_000));
    await service.approver.post(`/v1/approvals/${needsSecurity}/approve`);
    const second = await openPerson(browser, service, {
      ...{ principal: 'finance-2', roles: ['approver'], groups: ['finance'] },
    });
    await second.open(approvalPath(needsSecurity));
    expect(await second.page.locator('#approve-button').isDisabled()).toBe(true);
    expect(await textOf(second.page, '#approve-button-why')).toBe(
      'This vote fills no open place. Open to a member of security.',
    );
    expect(await second.page.locator('#reject-button').isEnabled()).toBe(true);
    await second.open('/console');
    expect(await textOf(second.page, `#row-${needsSecurity} .why`)).toMatch(/you cannot approve it/i);
    expect(second.complaints).toStrictEqual([]);
    await second.context.close();

    const owned = { principal: 'agent-owned', roles: ['agent'], owner: 'approver-1' };
    const { token } = await makeKey(service.operator, owned);
    const ofOwnAgent = await ask(service.as(token));
    await finance.open(approvalPath(ofOwnAgent));
    expect(await finance.page.locator('#approve-button').isDisabled()).toBe(true);
    expect(await textOf(finance.page, '#approve-button-why')).toContain('The owner of the agent');
    expect(await finance.page.locator('#approve-button').getAttribute('aria-describedby')).toBe(
      'approve-button-why',
    );
    expect(await read(ofOwnAgent)).toMatchObject({ status: 'pending', votes: [] });
  });

  test('a page without JavaScript approves, and rejects', async () => {
    const [yes, no] = [await ask(service.agent), await ask(service.agent)];
    const user = await openSignedIn(browser, origin, service.tokens.APPROVER, { javaScriptEnabled: false });
    for (const [id, word, status] of [
      [yes, 'approve', 'approved'],
      [no, 'reject', 'rejected'],
    ] as const) {
      await user.page.locator(`#row-${id} .row-link`).click();
      await user.page.waitForURL(origin + approvalPath(id));
      await user.page.locator(`#${word}-reason`).fill('by hand');
      await user.page.locator(`#${word}-button`).click();
      await user.page.waitForURL(new RegExp(`after=${word}`));
      expect(await read(id)).toMatchObject({ status, votes: [{ reason: 'by hand' }] });
      await user.page.getByRole('link', { name: 'Back to the queue' }).click();
      await user.page.waitForURL(`${origin}/console`);
    }
    expect(user.complaints).toStrictEqual([]);
    await user.context.close();
  });

  test('the keys are told by `?`, and wait while that is open', async () => {
    const { page } = finance;
    await ask(service.agent);
    await finance.open('/console');
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keys' });
    await dialog.waitFor();
    for (const key of ['j / k', 'a', 'r', 'e', '?']) {
      expect(await dialog.locator('kbd').allTextContents()).toContain(key);
    }
    expect(await page.evaluate(() => document.activeElement?.closest('dialog') !== null)).toBe(true);
    await page.keyboard.press('j');
    expect(await page.evaluate(() => document.activeElement?.closest('dialog') !== null)).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.keyboard.press('j');
    expect(await page.evaluate(() => document.activeElement?.className)).toBe('row-link');
  });
});
