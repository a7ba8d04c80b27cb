import { afterAll, describe, expect, test } from 'vitest';
import { canonicalAction } from '../../src/core/canonical_action.ts';
import type { ApiClient } from '../support/api_client.ts';
import { ask, askApproved, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import {
  type Actor,
  editedCall,
  expectOk,
  expectProblem,
  newApprover,
  ROOMY,
  readApproval,
  sha256,
  WRONG_HASH,
} from './support.ts';

const service = await startTestService({ env: { ...ROOMY, AEGIS_APPROVAL_ATTEMPT_LIMIT: '1000' } });
afterAll(() => service.close());

const editor: Actor = await newApprover(service);
const finance = await newApprover(service, ['finance']);
const security = await newApprover(service, ['security']);

async function edit(id: string, parameters: object, options?: object, by: ApiClient = editor.client) {
  const tool_call = await editedCall(service.approver, id, parameters);
  return by.post(`/v1/approvals/${id}/edit`, { tool_call, reason: 'smaller' }, options);
}

const ifMatch = (tag: string) => ({ headers: { 'if-match': tag } });
const approve = (by: Actor, id: string, body?: object, options?: object) =>
  by.client.post(`/v1/approvals/${id}/approve`, body, options);

describe('an edit', () => {
  test('freezes the edited action anew and keeps the original', async () => {
    const original = refund(9000, { memo: 'as asked' });
    const id = await ask(service.agent, original);
    const before = await readApproval(service.agent, id);
    const answer = await edit(id, { amount: 8000 });
    const toolCall = { ...original, parameters: { ...original.parameters, amount: 8000 } };
    const text = canonicalAction(toolCall as never);
    expectOk(answer);
    expect(answer.headers.get('etag')).toBe('"2"');
    expect(answer.body).toEqual({
      ...before,
      version: 2,
      edited: true,
      edits: [
        { editor: editor.principal, reason: 'smaller', action_hash: sha256(text), at: expect.any(String) },
      ],
      tool_call: toolCall,
      action_hash: sha256(text),
      canonical_action: text,
      review: {
        ...before.review,
        view_hash: expect.not.stringMatching(before.review.view_hash),
        lines: expect.arrayContaining([
          expect.objectContaining({ kind: 'edit', label: '/parameters/amount becomes', text: '8000' }),
        ]),
      },
    });
    expect(answer.body.original_tool_call).toEqual(original);
    expect(answer.body.original_action_hash).toBe(before.action_hash);
  });

  test('takes the requirements, policies and reason of the edited amount', async () => {
    const id = await ask(service.agent, refund(9000));
    expectOk(await edit(id, { amount: 100_001 }), {
      status: 'pending',
      requirements: { votes: 2, groups: ['finance', 'security'], signature: 'none' },
      determining_policies: [
        'stripe-refund-large-needs-approval',
        'stripe-refund-very-large-needs-two-approvals',
      ],
      reason: expect.stringMatching(/one approval by finance and one by security/),
    });
    expectOk(await approve(finance, id, {}, ifMatch('"2"')), { status: 'pending' });
    expectOk(await approve(security, id, {}, ifMatch('"2"')), { status: 'approved' });
  });

  test('to a smaller amount needs no more than that one does', async () => {
    const id = await ask(service.agent, refund(200_000));
    expectOk(await edit(id, { amount: 9000 }), { requirements: { votes: 1, groups: [], signature: 'none' } });
    expectOk(await approve(finance, id, {}, ifMatch('"2"')), { status: 'approved' });
  });

  test('to what policy allows outright still needs one vote', async () => {
    const id = await ask(service.agent, refund(9000));
    expectOk(await edit(id, { amount: 100 }), {
      status: 'pending',
      requirements: { votes: 1, groups: [], signature: 'none' },
      determining_policies: ['stripe-refund-small-allowed'],
    });
    expectProblem(await service.agent.post(`/v1/approvals/${id}/consume`), 409, 'approval_not_approved');
    expectOk(await approve(finance, id, {}, ifMatch('"2"')), { status: 'approved' });
  });

  test('drops earlier votes, which may be cast again', async () => {
    const id = await ask(service.agent, refund(200_000));
    expectOk(await approve(finance, id), { status: 'pending', votes: [{ approver: finance.principal }] });
    expectOk(await edit(id, { amount: 150_000 }), { status: 'pending', version: 2, votes: [] });
    expectOk(await approve(security, id, {}, ifMatch('"2"')), { status: 'pending' });
    const answer = await approve(finance, id, {}, ifMatch('"2"'));
    expectOk(answer, { status: 'approved' });
    expect(answer.body.votes).toHaveLength(2);
  });

  test('is decided under the stored context', async () => {
    const id = await ask(service.agent, refund(100), { source_trust: 'unknown' });
    expectOk(await edit(id, { amount: 200 }), {
      determining_policies: ['outside-origin-asks-before-change'],
      context: { source_trust: 'unknown' },
    });
  });

  test('never moves expires_at later', async () => {
    const id = await ask(service.agent);
    const { expires_at: before } = await readApproval(service.agent, id);
    const { body } = await edit(id, { amount: 8000 });
    expect(Date.parse(body.expires_at)).toBeLessThanOrEqual(Date.parse(before));
  });

  test('may follow an edit; each moves the version and is kept', async () => {
    const id = await ask(service.agent);
    await edit(id, { amount: 8000 });
    const answer = await edit(id, { amount: 7000 }, ifMatch('"2"'), finance.client);
    expectOk(answer, { version: 3, edits: [{ editor: editor.principal }, { editor: finance.principal }] });
  });

  test('back to the original is an edit all the same', async () => {
    const id = await ask(service.agent, refund(9000));
    await edit(id, { amount: 8000 });
    const answer = await edit(id, { amount: 9000 });
    expectOk(answer, { version: 3, edited: true });
    expect(answer.body.action_hash).toBe(answer.body.original_action_hash);
    expectProblem(await approve(finance, id), 428, 'precondition_required');
  });
});

describe('only the parameters may differ, and they must', () => {
  test.each([
    ['tool', { tool: 'Stripe' }, '/tool_call/tool'],
    ['action', { action: 'payout' }, '/tool_call/action'],
    ['resource', { resource: 'ch_other' }, '/tool_call/resource'],
    ['resource left out', { resource: undefined }, '/tool_call/resource'],
    ['mutates_state', { mutates_state: false }, '/tool_call/mutates_state'],
    ['nothing', { parameters: { amount: 9000, currency: 'usd' } }, '/tool_call/parameters'],
    ['only the order', { parameters: { currency: 'usd', amount: 9000 } }, '/tool_call/parameters'],
  ])('%s: 422', async (_what, change, pointer) => {
    const id = await ask(service.agent);
    const tool_call = { ...(await editedCall(service.approver, id, { amount: 8000 })), ...change };
    const answer = await editor.client.post(`/v1/approvals/${id}/edit`, { tool_call });
    expectProblem(answer, 422, 'invalid_request', { errors: [{ pointer, reason: expect.any(String) }] });
    expect(await readApproval(service.agent, id)).toMatchObject({ version: 1, edited: false });
  });

  test.each([
    [undefined, ''],
    [{}, '/tool_call'],
    [{ tool_call: { ...refund(1), extra: 1 } }, '/tool_call/extra'],
    [{ tool_call: refund(1), action_hash: WRONG_HASH }, '/action_hash'],
    [{ tool_call: refund(1), reason: 7 }, '/reason'],
  ])('a body of another shape is 422: %j', async (body, pointer) => {
    const id = await ask(service.agent);
    const answer = await editor.client.post(`/v1/approvals/${id}/edit`, body);
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].pointer).toBe(pointer);
  });
});

test.each([
  ['a parameter of the wrong type', refund(9000), { amount: 0 }],
  ['an undeclared parameter', refund(9000), { to: 'me' }],
  [
    'a command that is not its argv',
    {
      tool: 'shell',
      action: 'exec',
      resource: null,
      mutates_state: true,
      parameters: { command: 'ls', argv: ['ls'] },
    },
    { argv: ['rm', '-rf', '/'] },
  ],
])(
  'an edit that policy denies is 409 and leaves the approval unchanged: %s',
  async (_what, toolCall, change) => {
    const id = await ask(service.agent, toolCall);
    const before = await readApproval(service.agent, id);
    expectProblem(await edit(id, change), 409, 'edit_denied_by_policy', { approval_status: 'pending' });
    expect(await readApproval(service.agent, id)).toEqual(before);
    expectOk(await approve(editor, id), { status: 'approved' });
  },
);

describe('once edited, approve needs to have seen it', () => {
  test('without hash or If-Match: 428, and no vote is cast', async () => {
    const id = await ask(service.agent);
    await edit(id, { amount: 8000 });
    for (const body of [undefined, {}, { reason: 'fine', scope: 'once' }]) {
      expectProblem(await approve(finance, id, body), 428, 'precondition_required', {
        approval_status: 'pending',
        detail: expect.stringMatching(/action_hash.*If-Match/),
      });
    }
    expect((await readApproval(service.agent, id)).votes).toEqual([]);
  });

  test('the original hash is 409, the edited one approves', async () => {
    const id = await ask(service.agent);
    await edit(id, { amount: 8000 });
    const { action_hash, original_action_hash } = await readApproval(service.approver, id);
    expectProblem(
      await approve(finance, id, { action_hash: original_action_hash }),
      409,
      'action_hash_mismatch',
    );
    expectOk(await approve(finance, id, { action_hash }), { status: 'approved' });
  });

  test('a reject needs neither', async () => {
    const id = await ask(service.agent);
    await edit(id, { amount: 8000 });
    expectOk(await finance.client.post(`/v1/approvals/${id}/reject`), { status: 'rejected' });
  });
});

describe('If-Match', () => {
  const JUNK = [
    '*',
    'W/"2"',
    '"2", "3"',
    '"1","2"',
    '2',
    '""',
    '"two"',
    '"02"',
    '"-1"',
    '"2" ',
    "'2'",
    '"99999999999"',
  ];

  test.each(JUNK.filter((tag) => tag.trim() === tag))('%s is 422, edited or not', async (tag) => {
    const id = await ask(service.agent);
    for (const call of ['approve', 'reject', 'cancel']) {
      const answer = await finance.client.post(`/v1/approvals/${id}/${call}`, {}, ifMatch(tag));
      expectProblem(answer, 422, 'invalid_request', { detail: expect.stringMatching(/if-match/i) });
    }
    expectProblem(await edit(id, { amount: 8000 }, ifMatch(tag)), 422, 'invalid_request');
    expectOk(await edit(id, { amount: 8000 }));
    expectProblem(await approve(finance, id, {}, ifMatch(tag)), 422, 'invalid_request');
    expect(await readApproval(service.agent, id)).toMatchObject({ status: 'pending', version: 2, votes: [] });
  });

  test('two of them are a list', async () => {
    const id = await ask(service.agent);
    const headers = new Headers([
      ['authorization', `Bearer ${finance.token}`],
      ['if-match', '"1"'],
      ['if-match', '"2"'],
    ]);
    const answer = await fetch(`${service.url}/v1/approvals/${id}/approve`, { method: 'POST', headers });
    expect(answer.status).toBe(422);
  });

  test('stale is 412 on approve, reject, edit and cancel; the present one goes through', async () => {
    const id = await ask(service.agent);
    await edit(id, { amount: 8000 });
    for (const tag of ['"1"', '"3"', '"0"']) {
      for (const call of ['approve', 'reject']) {
        expectProblem(
          await finance.client.post(`/v1/approvals/${id}/${call}`, {}, ifMatch(tag)),
          412,
          'stale_version',
          {
            approval_status: 'pending',
          },
        );
      }
      await expectStale(id, tag);
    }
    expectOk(await edit(id, { amount: 7000 }, ifMatch('"2"')), { version: 3 });
    expectOk(await service.agent.post(`/v1/approvals/${id}/cancel`, {}, ifMatch('"3"')), {
      status: 'cancelled',
    });
  });

  async function expectStale(id: string, tag: string): Promise<void> {
    expectProblem(await edit(id, { amount: 7000 }, ifMatch(tag), security.client), 412, 'stale_version');
    expectProblem(
      await service.agent.post(`/v1/approvals/${id}/cancel`, {}, ifMatch(tag)),
      412,
      'stale_version',
    );
  }

  test('on an approval never edited it is optional, and checked when sent', async () => {
    const id = await ask(service.agent);
    expectProblem(await approve(finance, id, {}, ifMatch('"2"')), 412, 'stale_version');
    expectOk(await approve(finance, id, {}, ifMatch('"1"')), { status: 'approved' });
  });

  test('If-None-Match is not honoured', async () => {
    const id = await ask(service.agent);
    const answer = await service.approver.get(`/v1/approvals/${id}`, { headers: { 'if-none-match': '"1"' } });
    expectOk(answer, { version: 1 });
  });
});

describe('consuming an edited approval', () => {
  test('needs the edited hash, and gives the edited action', async () => {
    const id = await ask(service.agent, refund(9000));
    await edit(id, { amount: 8000 });
    expectOk(await approve(finance, id, {}, ifMatch('"2"')), { status: 'approved' });
    const { action_hash, original_action_hash, tool_call } = await readApproval(service.agent, id);
    const consume = (body?: object) => service.agent.post(`/v1/approvals/${id}/consume`, body);
    expectProblem(await consume(), 428, 'precondition_required', { approval_status: 'approved' });
    expectProblem(await consume({}), 428, 'precondition_required');
    expectProblem(await consume({ action_hash: original_action_hash }), 409, 'action_hash_mismatch');
    expectOk(await consume({ action_hash }), { action_hash, tool_call, replayed: false });
    expect(tool_call.parameters.amount).toBe(8000);
  });

  test('without an edit the hash is optional', async () => {
    const id = await askApproved(service.agent, service.approver);
    expectOk(await service.agent.post(`/v1/approvals/${id}/consume`), { status: 'consumed' });
  });
});
