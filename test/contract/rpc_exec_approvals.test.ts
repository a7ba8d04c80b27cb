import { afterAll, describe, expect, test } from 'vitest';
import { createRpcOpener } from '../support/rpc_client.ts';
import { startTestService } from '../support/test_service.ts';
import { newAgent } from './support.ts';

const service = await startTestService();
afterAll(() => service.close());

const openAt = createRpcOpener();
const open = (token: string) => openAt(service.url, token);

const { AGENT, APPROVER, OPERATOR } = service.tokens;

describe('exec.approvals', () => {
  const document = (pattern: string) => ({
    version: 1,
    defaults: { security: 'full', ask: 'off' },
    agents: { 'nobody-else': { security: 'allowlist', allowlist: [{ pattern }] } },
  });

  test('are read and replaced as through REST, with the hash that guards against a race', async () => {
    const operator = await open(OPERATOR);
    const before = await operator.call('exec.approvals.get');
    const set = await operator.call('exec.approvals.set', {
      document: document('/usr/bin/git'),
      base_hash: before.hash,
    });
    expect(set.document.agents['nobody-else'].allowlist[0]).toMatchObject({ id: expect.any(String) });
    expect((await service.operator.get('/v1/exec-approvals')).body).toEqual(set);
    const raced = { document: document('/bin/ls'), base_hash: before.hash };
    expect(await operator.fail('exec.approvals.set', raced)).toMatchObject({
      code: -32000,
      data: { code: 'base_hash_mismatch', status: 409 },
    });
  });

  test('of a node stand apart from the tenant’s', async () => {
    const operator = await open(OPERATOR);
    const tenant = await operator.call('exec.approvals.get');
    const node = { node_id: 'node-1' };
    const set = await operator.call('exec.approvals.node.set', { ...node, document: document('/bin/ls') });
    expect(await operator.call('exec.approvals.node.get', node)).toEqual(set);
    expect(await operator.call('exec.approvals.get')).toEqual(tenant);
  });

  test('refuse unknown members, and everybody but operators', async () => {
    const operator = await open(OPERATOR);
    const unknown = { document: { ...document('/bin/ls'), socket: {} } };
    expect(await operator.fail('exec.approvals.set', unknown)).toMatchObject({
      code: -32602,
      data: { code: 'invalid_request', errors: [{ pointer: '/document/socket' }] },
    });
    for (const token of [AGENT, APPROVER]) {
      const client = await open(token);
      expect(await client.fail('exec.approvals.get')).toMatchObject({ data: { code: 'forbidden' } });
    }
  });
});

describe('a command', () => {
  test('that they cover is allowed at once', async () => {
    const { token, principal } = await newAgent(service);
    const [agent, operator] = [await open(token), await open(OPERATOR)];
    const { document, hash } = await operator.call('exec.approvals.get');
    const allowlist = [{ pattern: '/usr/bin/git' }];
    document.agents[principal] = { security: 'allowlist', ask: 'on-miss', allowlist };
    await operator.call('exec.approvals.set', { document, base_hash: hash });
    const covered = { command: 'git status', resolved_paths: ['/usr/bin/git'] };
    expect(await agent.call('exec.approval.request', covered)).toMatchObject({
      id: expect.stringMatching(/^dec_/),
      decision: 'allow_once',
    });
  });

  test('approved for the allowlist is covered from then on', async () => {
    const { token, principal } = await newAgent(service);
    const [agent, operator, approver] = [await open(token), await open(OPERATOR), await open(APPROVER)];
    const { document, hash } = await operator.call('exec.approvals.get');
    document.agents[principal] = { security: 'allowlist', ask: 'on-miss' };
    await operator.call('exec.approvals.set', { document, base_hash: hash });
    const what = { command: 'jq . a.json', resolved_paths: ['/usr/bin/jq'] };
    const { id } = await agent.call('exec.approval.request', { ...what, two_phase: true });
    const { pending } = await approver.call('exec.approvals.pending');
    const entry = pending.find((one: { id: string }) => one.id === id);
    expect(entry).toMatchObject({ decisions: expect.arrayContaining(['allowlist']) });
    expect(await approver.call('exec.approval.resolve', { id, decision: 'allowlist' })).toMatchObject({
      applied: 'allowlist',
    });
    expect(await agent.call('exec.approval.waitDecision', { id })).toMatchObject({ decision: 'allowlist' });
    expect(await agent.call('exec.approval.request', what)).toMatchObject({ decision: 'allow_once' });
  });
});
