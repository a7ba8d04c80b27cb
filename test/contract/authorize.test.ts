import { afterAll, describe, expect, test } from 'vitest';
import { canonicalAction } from '../../src/core/canonical_action.ts';
import { ask, authorize, refund, TRUSTED } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import {
  expectOk,
  expectProblem,
  newAgent,
  ROOMY,
  readApproval,
  sha256,
  uuidOf,
  WRONG_HASH,
} from './support.ts';

const service = await startTestService({ env: ROOMY });
afterAll(() => service.close());

async function countRows(agent: string): Promise<{ decisions: number; approvals: number }> {
  const [row] = await service.sql`select
    (select count(*)::int from decisions where agent = ${agent}) as decisions,
    (select count(*)::int from approvals where agent = ${agent}) as approvals`;
  return { decisions: row?.decisions, approvals: row?.approvals };
}

describe('the answer', () => {
  test('an ask has every member of the contract, and freezes the action that was sent', async () => {
    const toolCall = refund(9000);
    const answer = await authorize(service.agent, toolCall);
    const actionHash = sha256(canonicalAction(toolCall as never));
    expectOk(answer);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      decision_id: expect.stringMatching(/^dec_[0-9a-f-]{36}$/),
      decision: 'require_approval',
      reason: 'a refund of more than 5000 cents needs an approval',
      determining_policies: ['stripe-refund-large-needs-approval'],
      policy_revision: expect.stringMatching(/^[0-9a-f]{64}$/),
      action_hash: actionHash,
      tool_call: toolCall,
      resolved: { tool: 'stripe', action: 'refund' },
      approval: {
        approval_id: expect.stringMatching(/^apr_[0-9a-f-]{36}$/),
        status: 'pending',
        expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        action_hash: actionHash,
        version: 1,
      },
      grant_id: null,
      denial: null,
      dry_run: false,
    });
    const lifeMs = Date.parse(answer.body.approval.expires_at) - Date.now();
    expect(lifeMs).toBeGreaterThan(1_790_000);
    expect(lifeMs).toBeLessThanOrEqual(1_801_000);
  });

  test.each([
    ['allow', refund(1)],
    ['deny', { ...refund(1), action: 'payout' }],
  ])('%s has no approval, and its decision is stored', async (decision, toolCall) => {
    const answer = await authorize(service.agent, toolCall);
    expectOk(answer, { decision, approval: null, grant_id: null, denial: null, dry_run: false });
    const rows = await service.sql`select decision, action_hash, policy_revision from decisions
      where decision_id = ${uuidOf(answer.body.decision_id)}`;
    expect(rows).toEqual([
      { decision, action_hash: answer.body.action_hash, policy_revision: answer.body.policy_revision },
    ]);
  });

  test('each ask makes an approval of its own, nothing is coalesced', async () => {
    const toolCall = refund(9000);
    expect(await ask(service.agent, toolCall)).not.toBe(await ask(service.agent, toolCall));
  });

  test('an absent resource is null in the action and in its hash', async () => {
    const { resource: _, ...toolCall } = refund(1);
    const absent = await authorize(service.agent, toolCall);
    const given = await authorize(service.agent, { ...toolCall, resource: null });
    expectOk(absent, { tool_call: { ...toolCall, resource: null }, action_hash: given.body.action_hash });
  });

  test('neither context nor member order is part of the hash; any parameter is', async () => {
    const toolCall = refund(9000, { memo: 'a' });
    const reordered = Object.fromEntries(Object.entries(toolCall).reverse());
    const first = await authorize(service.agent, toolCall);
    const other = await authorize(service.agent, reordered, {
      context: { session_id: 's', justification: 'j' },
    });
    expect(other.body.action_hash).toBe(first.body.action_hash);
    const changed = { ...toolCall, parameters: { ...toolCall.parameters, memo: 'a ' } };
    expect((await authorize(service.agent, changed)).body.action_hash).not.toBe(first.body.action_hash);
  });
});

describe('action_hash', () => {
  test('the right hash is accepted', async () => {
    const toolCall = refund(1);
    const hash = sha256(canonicalAction(toolCall as never));
    expectOk(await authorize(service.agent, toolCall, { action_hash: hash }), { action_hash: hash });
  });

  test('a wrong one is 422 with the expected hash and the canonical text, and stores nothing', async () => {
    const { client, principal } = await newAgent(service);
    const toolCall = refund(9000);
    const text = canonicalAction(toolCall as never);
    expectProblem(
      await authorize(client, toolCall, { action_hash: WRONG_HASH }),
      422,
      'action_hash_mismatch',
      { expected_action_hash: sha256(text), canonical_action: text },
    );
    expect(await countRows(principal)).toEqual({ decisions: 0, approvals: 0 });
  });

  test.each(['', 'F'.repeat(64), 'f'.repeat(63), `${'f'.repeat(64)} `, 7, null])(
    'what is no hash at all (%j) is a fault of shape',
    async (hash) => {
      const answer = await authorize(service.agent, refund(1), { action_hash: hash });
      expectProblem(answer, 422, 'invalid_request', {
        errors: [{ pointer: '/action_hash', reason: expect.any(String) }],
      });
    },
  );
});

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

describe('context', () => {
  test('all of it is optional: the origin is then unknown', async () => {
    const answer = await service.agent.post('/v1/authorize', { tool_call: refund(9000) });
    expectOk(answer, { decision: 'require_approval' });
    expect((await readApproval(service.approver, answer.body.approval.approval_id)).context).toEqual({
      source_trust: 'unknown',
      contains_sensitive_data: false,
      workspace: null,
      environment: null,
      session_id: null,
      run_id: null,
      parent_run_id: null,
      unattended: false,
      tier: 'auto',
      workspace_root: null,
      justification: null,
      now: expect.stringMatching(INSTANT),
    });
  });

  test('the approval shows it as used', async () => {
    const context = {
      source_trust: 'semi_trusted',
      contains_sensitive_data: true,
      workspace: 'repo:payments',
      environment: 'production',
      session_id: 's-1',
      run_id: 'r-1',
      parent_run_id: null,
      unattended: false,
      tier: 'ask',
      justification: 'customer asked twice',
    };
    const id = await ask(service.agent, refund(9000), context);
    expect((await readApproval(service.agent, id)).context).toEqual({
      ...context,
      workspace_root: null,
      now: expect.stringMatching(INSTANT),
    });
  });

  const TEXTS = ['workspace', 'environment', 'session_id', 'run_id', 'parent_run_id', 'justification'];
  const longest = (member: string) => (member === 'justification' ? 2000 : 256);

  test.each(TEXTS)('%s has 1 to its most characters, and none that hides or reorders', async (member) => {
    for (const good of ['x', 'é'.repeat(longest(member)), '😀'.repeat(longest(member)), null]) {
      expectOk(await authorize(service.agent, refund(1), { context: { [member]: good } }));
    }
    for (const bad of [
      '',
      'x'.repeat(longest(member) + 1),
      'a\u0000b',
      'a\nb',
      'a\u202eb',
      'a\u2066b',
      7,
      {},
      [],
    ]) {
      const answer = await authorize(service.agent, refund(1), { context: { [member]: bad } });
      expectProblem(answer, 422, 'invalid_request');
      expect(answer.body.errors[0].pointer).toBe(`/context/${member}`);
    }
  });

  test.each([
    ['source_trust', 'trusted'],
    ['source_trust', null],
    ['contains_sensitive_data', 'yes'],
    ['unattended', 1],
    ['tier', 'none'],
    ['workspaces', 'x'],
  ])('%s: %j is 422', async (member, value) => {
    const answer = await authorize(service.agent, refund(1), { context: { [member]: value } });
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].pointer).toBe(`/context/${member}`);
  });

  test('unattended, an ask is denied at once and an allow stays one', async () => {
    expectOk(await authorize(service.agent, refund(9000), { context: { unattended: true } }), {
      decision: 'deny',
      determining_policies: ['unattended-run-cannot-ask'],
      approval: null,
      denial: { by: 'unattended', reason: expect.any(String), instruction: expect.stringMatching(/do not/i) },
    });
    expectOk(await authorize(service.agent, refund(1), { context: { unattended: true } }), {
      decision: 'allow',
    });
  });
});

describe('dry_run', () => {
  test.each([
    ['allow', refund(1)],
    ['deny', refund(0)],
    ['require_approval', refund(9000)],
  ])('%s: decided, nothing stored, counted', async (decision, toolCall) => {
    const { client, principal } = await newAgent(service);
    const counter = `aegis_decisions_total{decision="${decision}",dry_run="true"}`;
    const before = await readCounter(counter);
    expectOk(await authorize(client, toolCall, { dry_run: true }), {
      decision,
      approval: null,
      dry_run: true,
      decision_id: expect.stringMatching(/^dec_/),
    });
    expect(await countRows(principal)).toEqual({ decisions: 0, approvals: 0 });
    expect(await readCounter(counter)).toBe(before + 1);
  });

  async function readCounter(name: string): Promise<number> {
    const { text } = await service.anonymous.get('/metrics');
    const line = text.split('\n').find((one) => one.startsWith(name));
    return Number(line?.split(' ').at(-1) ?? 0);
  }
});

describe('identifiers', () => {
  test.each([
    ['percent-encoded', 'str%69pe', 'refund'],
    ['with spaces around', '  stripe ', '\u00a0refund'],
    ['in capitals', 'STRIPE', 'Refund'],
    ['all at once', '%20S%54ripe ', 'REFUN%44'],
  ])('%s: looked up by their normal form, hashed as sent', async (_how, tool, action) => {
    const toolCall = { ...refund(9000), tool, action };
    const answer = await authorize(service.agent, toolCall);
    expectOk(answer, {
      decision: 'require_approval',
      resolved: { tool: 'stripe', action: 'refund' },
      action_hash: sha256(canonicalAction(toolCall as never)),
      tool_call: { tool, action },
    });
    const approval = await readApproval(service.approver, answer.body.approval.approval_id);
    expect(approval).toMatchObject({
      resolved: { tool: 'stripe', action: 'refund' },
      tool_call: { tool, action },
    });
  });

  test('decomposed characters are composed in the normal form only', async () => {
    const toolCall = { ...refund(1), tool: 'cafe\u0301', action: 'Servir' };
    expectOk(await authorize(service.agent, toolCall), {
      resolved: { tool: 'caf\u00e9', action: 'servir' },
      tool_call: { tool: 'cafe\u0301' },
      action_hash: sha256(canonicalAction(toolCall as never)),
    });
  });

  const REFUSED = [
    ['empty', ''],
    ['blank', '   '],
    ['blank after decoding', '%20'],
    ['a control character', 'stri\u0007pe'],
    ['an escaped control character', 'stri%00pe'],
    ['a zero-width space', 'stri\u200bpe'],
    ['an escaped zero-width space', 'stri%E2%80%8Bpe'],
    ['a bidi override', '\u202estripe'],
    ['an unassigned character', 'stripe\u0378'],
    ['a byte order mark', '\ufeffstripe'],
    ['a malformed escape', 'stripe%zz'],
    ['an escape cut short', 'stripe%4'],
    ['an escape that is no UTF-8', 'stripe%ff'],
    ['an escape left after one decoding', 'str%2569pe'],
    ['129 characters', 'x'.repeat(129)],
  ] as const;

  test.each(REFUSED)('%s is 422 at its pointer, as tool and as action', async (_what, text) => {
    for (const member of ['tool', 'action']) {
      const answer = await authorize(service.agent, { ...refund(1), [member]: text });
      expectProblem(answer, 422, 'invalid_request');
      expect(answer.body.errors[0]).toEqual({ pointer: `/tool_call/${member}`, reason: expect.any(String) });
    }
  });

  test('128 characters are not too many, escaped or not', async () => {
    for (const tool of ['x'.repeat(128), '%C3%A9'.repeat(128)]) {
      expectOk(await authorize(service.agent, { ...refund(1), tool }), { decision: 'deny' });
    }
  });
});

test.each([
  ['tool_call', undefined],
  ['tool_call', { ...refund(1), tool: undefined }],
  ['tool_call', { ...refund(1), action: undefined }],
  ['tool_call', { ...refund(1), mutates_state: undefined }],
  ['tool_call', { ...refund(1), parameters: undefined }],
  ['tool_call', { ...refund(1), parameters: [] }],
  ['tool_call', { ...refund(1), parameters: null }],
  ['tool_call', { ...refund(1), resource: 7 }],
  ['tool_call', { ...refund(1), resource: '' }],
  ['tool_call', { ...refund(1), extra: 1 }],
  ['context', 'trusted_internal'],
  ['context', null],
  ['dry_run', 'yes'],
  ['idempotency_key', 'x'],
])('a body whose %s is %j is 422 at its pointer', async (member, value) => {
  const body = { tool_call: refund(1), context: TRUSTED, [member]: value };
  const answer = await service.agent.post('/v1/authorize', body);
  expectProblem(answer, 422, 'invalid_request');
  expect(answer.body.errors[0].pointer).toMatch(new RegExp(`^/${member}`));
});
