import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api_client.ts';
import { ask, makeKey, refund } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { buttonOf, formOf, has, partOf, textOf } from './page_html.ts';
import { person, send, sendFrom } from './people.ts';
import { type Browser, signIn } from './support.ts';

let service: TestService;
let finance: Browser;
let security: Browser;
let operator: Browser;
let auditor: Browser;
/** Belongs to somebody who approves otherwise. */
let ownedAgent: ApiClient;

beforeAll(async () => {
  service = await startTestService({
    env: { AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '1000', AEGIS_APPROVAL_ATTEMPT_LIMIT: '100' },
  });
  finance = await signIn(service, service.tokens.APPROVER);
  security = await signIn(service, service.tokens.APPROVER2);
  operator = await signIn(service, service.tokens.OPERATOR);
  auditor = await person(service, { principal: 'auditor-1', roles: ['auditor'] });
  const owned = await makeKey(service.operator, {
    principal: 'agent-owned',
    roles: ['agent'],
    owner: 'approver-1',
  });
  ownedAgent = service.as(owned.token);
  await putTool(service.operator, 'deploy', 'release', RELEASE);
  await putTool(service.operator, 'disk', 'wipe', {
    mutates_state: true,
    destructive: true,
    permission: 'ask',
  });
  await putPolicies(service.operator, releaseAsk('@max_scope("window")'));
});
afterAll(() => service.close());

const pathOf = (id: string): string => `/console/approvals/${id}`;

async function read(id: string) {
  return (await service.approver.get(`/v1/approvals/${id}`)).body;
}

test('who has no passkey is not offered to sign with one', async () => {
  const id = await ask(service.agent, refund(9000));
  const { html } = await finance.get(pathOf(id));
  expect(html).toContain('id="approve-form"');
  expect(html).not.toContain('data-passkey');
});

describe('approving', () => {
  test('without a script is a form that says what was seen, and the page that follows says what happened', async () => {
    const id = await ask(service.agent, refund(9000));
    const { fields } = formOf((await finance.get(pathOf(id))).html, 'approve-form');
    const { version, review } = await read(id);
    expect(fields).toMatchObject({ version: String(version), view_hash: review.view_hash, scope: 'once' });
    const sent = await send(finance, pathOf(id), 'approve-form', { reason: 'checked\r\nwith the customer' });
    expect([sent.status, sent.location]).toStrictEqual([303, `${pathOf(id)}?after=approve`]);
    const after = await read(id);
    expect(after).toMatchObject({ status: 'approved', decided_by: 'approver-1' });
    expect(after.votes[0].reason).toBe('checked\nwith the customer');
    const [vote] = await service.sql`select view_hash, shown_at from votes
      where approval_id = ${id.slice(4)}::uuid`;
    expect(vote).toMatchObject({ view_hash: review.view_hash, shown_at: expect.any(Date) });
    const page = await finance.get(sent.location ?? '');
    expect(textOf(partOf(page.html, 'became'))).toContain('Approved, with your vote');
    expect(textOf(partOf(page.html, 'voters'))).toContain('checked with the customer');
  });

  test('is not told to have happened by any address', async () => {
    const id = await ask(service.agent, refund(9000));
    const page = await finance.get(`${pathOf(id)}?after=approve`);
    expect(textOf(partOf(page.html, 'became'))).toContain('You have not decided it');
    expect((await read(id)).status).toBe('pending');
  });

  test('shows a partial vote, who gave it and who else must, and ends with the last', async () => {
    const id = await ask(service.agent, refund(200_000));
    const first = await send(finance, pathOf(id), 'approve-form');
    const told = textOf(partOf((await finance.get(first.location ?? '')).html, 'became'));
    expect(told).toContain('It is not approved yet: still wanted is one vote of the group security');
    const page = (await security.get(pathOf(id))).html;
    const voters = textOf(partOf(page, 'voters'));
    expect(voters).toContain('1 of 2 votes, one each of finance and security');
    expect(voters).toContain('Still wanted: one vote of the group security');
    expect(voters).toContain('approver-1 (finance) approved');
    await sendFrom(security, page, 'approve-form');
    expect((await read(id)).status).toBe('approved');
  });

  test('may be widened to what is offered, and the grant is there', async () => {
    const id = await ask(service.agent, release('api'), { session_id: 's-1' });
    const { html } = await finance.get(pathOf(id));
    const scopes = [...html.matchAll(/name="scope" value="([a-z]+)"/g)].map(([, scope]) => scope);
    expect(scopes).toStrictEqual(['once', 'session', 'window']);
    const sent = await sendFrom(finance, html, 'approve-form', {
      scope: 'window',
      window_seconds: '600',
      max_uses: '3',
    });
    expect(sent.status).toBe(303);
    const { body } = await service.operator.get('/v1/grants');
    expect(body.items[0]).toMatchObject({ scope: 'window', max_uses: 3, granted_by: 'approver-1' });
    expect(textOf((await finance.get('/console/grants')).html)).toContain('0 of 3');
  });

  test('with a window that is none does nothing, says where, and keeps what was typed', async () => {
    const id = await ask(service.agent, release('web'), { session_id: 's-1' });
    const typed = { scope: 'window', window_seconds: 'soon', max_uses: '3', reason: 'my words' };
    const sent = await send(finance, pathOf(id), 'approve-form', typed);
    expect(sent.status).toBe(422);
    expect(textOf(partOf(sent.html, 'refusal'))).toMatch(/It was not approved.*\/window_seconds must be/);
    expect(formOf(sent.html, 'approve-form').fields).toMatchObject(typed);
    expect((await read(id)).status).toBe('pending');
  });
});

describe('rejecting', () => {
  test('without a script is a form, and the agent gets the words', async () => {
    const id = await ask(service.agent, refund(9000));
    const sent = await send(security, pathOf(id), 'reject-form', { reason: 'not this one' });
    expect(sent.status).toBe(303);
    expect(await read(id)).toMatchObject({ status: 'rejected', decision_reason: 'not this one' });
    const page = (await security.get(sent.location ?? '')).html;
    expect(textOf(partOf(page, 'became'))).toContain('You rejected it');
    expect(textOf(partOf(page, 'story'))).toMatch(/rejected by approver-2, .* not this one/);
  });
});

describe('editing', () => {
  test('shows what differs, drops earlier votes, and bars who edited from approving', async () => {
    const id = await ask(service.agent, refund(9000, { memo: 'refund' }));
    const page = (await finance.get(pathOf(id))).html;
    const { fields } = formOf(page, 'edit-form');
    const parameters = JSON.parse(fields.parameters ?? '');
    expect(parameters).toStrictEqual({ amount: 9000, currency: 'usd', memo: 'refund' });
    const sent = await sendFrom(finance, page, 'edit-form', {
      parameters: JSON.stringify({ ...parameters, amount: 8000 }),
      reason: 'too much',
    });
    expect(sent.status).toBe(303);
    const after = (await finance.get(sent.location ?? '')).html;
    expect(textOf(partOf(after, 'became'))).toContain('Your edit is saved');
    expect(textOf(after)).toMatch(/What was edited .* \/parameters\/amount 9000 8000/);
    expect(buttonOf(after, 'approve-button')).toMatchObject({
      isDisabled: true,
      why: expect.stringContaining('Whoever edited this approval does not approve it'),
    });
    expect((await send(security, pathOf(id), 'approve-form')).status).toBe(303);
    expect(await read(id)).toMatchObject({ status: 'approved', tool_call: { parameters: { amount: 8000 } } });
  });

  test.each([
    ['{"amount": 1,', 'is not JSON from here on'],
    ['{"amount": 1, "amount": 2}', 'has two members of one name'],
    ['{"amount": 9007199254740993}', 'cannot be kept exactly'],
    ['[1]', 'must be an object'],
    ['{"amount": 9000, "currency": "usd"}', 'the parameters are those it has already'],
    ['{"amount": 9000, "currency": "xyz"}', 'policy denies the edited action'],
  ])('with `%s` changes nothing, says so beside the text, and loses none of it', async (parameters, why) => {
    const id = await ask(service.agent, refund(9000));
    const sent = await send(finance, pathOf(id), 'edit-form', { parameters, reason: 'because' });
    expect([409, 422, 400]).toContain(sent.status);
    expect(textOf(partOf(sent.html, 'edit-refusal')).toLowerCase()).toContain(why.toLowerCase());
    expect(formOf(sent.html, 'edit-form').fields).toMatchObject({ parameters, reason: 'because' });
    expect(partOf(sent.html, 'edit')).toMatch(/^<details[^>]* open/);
    expect(await read(id)).toMatchObject({ version: 1, edited: false });
  });

  test('gives back a secret that was masked, and shows what cannot be seen as escapes', async () => {
    const call = release('a\u202eb', { token: 'hunter2hunter2' });
    const id = await ask(service.agent, call);
    const { fields } = formOf((await finance.get(pathOf(id))).html, 'edit-form');
    expect(fields.parameters).toContain('a\\u202eb');
    expect(fields.parameters).not.toContain('hunter2');
    const edited = { ...JSON.parse(fields.parameters ?? ''), service: 'api' };
    const sent = await send(finance, pathOf(id), 'edit-form', { parameters: JSON.stringify(edited) });
    expect(sent.status).toBe(303);
    const { body } = await service.agent.get(`/v1/approvals/${id}`);
    expect(body.tool_call.parameters).toStrictEqual({ service: 'api', token: 'hunter2hunter2' });
  });
});

describe('taking back', () => {
  test('ends a yes that was not used, by whoever may', async () => {
    const id = await ask(service.agent, refund(9000));
    await send(finance, pathOf(id), 'approve-form');
    expect(has((await security.get(pathOf(id))).html, 'cancel-form')).toBe(false);
    expect((await send(operator, pathOf(id), 'cancel-form', { reason: 'mistake' })).status).toBe(303);
    expect(await read(id)).toMatchObject({ status: 'cancelled', decision_reason: 'mistake' });
  });
});

describe('what cannot be undone', () => {
  const wipe = (resource: string | null) => ({
    ...{ tool: 'disk', action: 'wipe', resource, mutates_state: true, parameters: {} },
  });

  test.each([
    ['the name of its resource', 'volume-7', 'volume-7'],
    ['the name of its action where it has no resource', null, 'wipe'],
    ['the name of its action where the resource cannot be typed', 'vol\u200bume', 'wipe'],
  ])('is approved by typing %s, and by nothing else', async (_, resource, word) => {
    const id = await ask(service.agent, wipe(resource));
    const page = (await finance.get(pathOf(id))).html;
    expect(partOf(page, 'approve-form')).toContain(`<code>${word}</code>`);
    for (const confirm of ['', 'yes', word.toUpperCase()]) {
      const refused = await sendFrom(finance, page, 'approve-form', { confirm, reason: 'kept' });
      expect(refused.status).toBe(422);
      expect(textOf(partOf(refused.html, 'refusal'))).toContain('It was not approved');
      expect(formOf(refused.html, 'approve-form').fields).toMatchObject({ reason: 'kept', confirm: '' });
      expect((await read(id)).status).toBe('pending');
    }
    expect((await sendFrom(finance, page, 'approve-form', { confirm: ` ${word} ` })).status).toBe(303);
    expect((await read(id)).status).toBe('approved');
  });

  test('is rejected without typing anything', async () => {
    const id = await ask(service.agent, wipe('volume-8'));
    expect((await send(finance, pathOf(id), 'reject-form')).status).toBe(303);
    expect((await read(id)).status).toBe('rejected');
  });
});

describe('a form that was loaded before something changed', () => {
  test('decides nothing once the approval was edited, and shows what it is now', async () => {
    const call = refund(9000);
    const id = await ask(service.agent, call);
    const old = (await security.get(pathOf(id))).html;
    const edited = { ...call, parameters: { ...call.parameters, amount: 7000 } };
    await service.approver.post(`/v1/approvals/${id}/edit`, { tool_call: edited });
    for (const form of ['approve-form', 'reject-form']) {
      const sent = await sendFrom(security, old, form, { reason: 'typed' });
      expect(sent.status).toBe(412);
      const told = textOf(partOf(sent.html, 'refusal'));
      expect(told).toContain('has changed since you were shown it');
      expect(textOf(sent.html)).toMatch(/\/parameters\/amount 9000 7000/);
      expect(formOf(sent.html, form).fields).toMatchObject({ version: '2', reason: 'typed' });
    }
    expect(await read(id)).toMatchObject({ status: 'pending', votes: [] });
  });

  test('decides nothing for another view, or without saying which was seen', async () => {
    const id = await ask(service.agent, refund(9000));
    const other = await send(finance, pathOf(id), 'approve-form', { view_hash: '0'.repeat(64) });
    expect([other.status, (await read(id)).votes]).toStrictEqual([409, []]);
    const blind = await send(finance, pathOf(id), 'approve-form', { view_hash: '' });
    expect([blind.status, (await read(id)).votes]).toStrictEqual([422, []]);
    expect(textOf(partOf(blind.html, 'refusal'))).toContain('does not say what you were shown');
  });

  test('says by whom it was decided meanwhile', async () => {
    const id = await ask(service.agent, refund(9000));
    const old = (await security.get(pathOf(id))).html;
    await service.approver.post(`/v1/approvals/${id}/reject`, { reason: 'no' });
    const sent = await sendFrom(security, old, 'approve-form');
    expect(sent.status).toBe(409);
    expect(textOf(sent.html)).toMatch(/It was not approved It was decided before.*rejected by approver-1/);
  });

  test('finds an approval whose time is over as it is', async () => {
    const id = await ask(service.agent, refund(9000));
    const old = (await security.get(pathOf(id))).html;
    await service.sql`update approvals set created_at = now() - interval '2 hours', expires_at = now() - interval '1 hour'
      where approval_id = ${id.slice(4)}::uuid`;
    const sent = await sendFrom(security, old, 'approve-form');
    expect(sent.status).toBe(410);
    expect(textOf(partOf(sent.html, 'refusal'))).toContain('Its time was over');
    expect(buttonOf(sent.html, 'approve-button').why).toBe('It has expired.');
  });
});

describe('a button that does nothing says why:', () => {
  async function whyNot(browser: Browser, id: string, button = 'approve-button') {
    return buttonOf((await browser.get(pathOf(id))).html, button);
  }

  test('the vote would fill no open place', async () => {
    const id = await ask(service.agent, refund(200_000));
    await service.approver.post(`/v1/approvals/${id}/approve`);
    const other = await person(service, { principal: 'finance-2', roles: ['approver'], groups: ['finance'] });
    expect(await whyNot(other, id)).toStrictEqual({
      isDisabled: true,
      why: 'This vote fills no open place. Open to a member of security.',
    });
    expect(await whyNot(other, id, 'reject-button')).toStrictEqual({ isDisabled: false, why: null });
    expect((await whyNot(finance, id)).why).toBe('Your vote is on it already; it waits for others.');
  });

  test('whoever owns the agent does not approve', async () => {
    const id = await ask(ownedAgent, refund(9000));
    expect((await whyNot(finance, id)).why).toContain(
      'The owner of the agent that asked does not approve its action',
    );
    const forced = await send(finance, pathOf(id), 'reject-form').then(() => read(id));
    expect(forced.status).toBe('rejected');
  });

  test('who is no approver may look', async () => {
    const id = await ask(service.agent, refund(9000));
    for (const reader of [operator, auditor]) {
      for (const button of ['approve-button', 'reject-button', 'edit-button']) {
        const { isDisabled, why } = await whyNot(reader, id, button);
        expect(isDisabled).toBe(true);
        expect(why).toContain('without the role approver');
      }
      const page = (await reader.get(pathOf(id))).html;
      expect((await sendFrom(reader, page, 'approve-form')).status).toBe(403);
    }
    expect(await read(id)).toMatchObject({ status: 'pending', votes: [] });
  });

  test('it was decided', async () => {
    const id = await ask(service.agent, refund(9000));
    await service.approver.post(`/v1/approvals/${id}/approve`);
    expect((await whyNot(security, id)).why).toBe('It is approved already.');
  });

  test('a signed vote needs a script', async () => {
    await putPolicies(service.operator, releaseAsk('@signature("webauthn")'));
    const id = await ask(service.agent, release('signed'));
    expect((await whyNot(finance, id)).why).toContain('which needs JavaScript');
    const sent = await send(finance, pathOf(id), 'approve-form');
    expect(sent.status).toBe(403);
    expect((await read(id)).votes).toStrictEqual([]);
  });
});
