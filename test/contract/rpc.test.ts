import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { ask } from '../support/calls.ts';
import { createRpcOpener, RpcClient } from '../support/rpc_client.ts';
import { startTestService } from '../support/test_service.ts';
import {
  editedCall,
  expectOk,
  newActor,
  newAgent,
  ROOMY,
  readApproval,
  UNKNOWN_APPROVAL,
} from './support.ts';

const service = await startTestService({ env: { ...ROOMY, AEGIS_APPROVAL_ATTEMPT_LIMIT: '1000' } });
afterAll(() => service.close());

const openAt = createRpcOpener();
const open = (token: string) => openAt(service.url, token);

const { AGENT, APPROVER, APPROVER2, OPERATOR } = service.tokens;
const ANY_APPROVAL = expect.stringMatching(/^apr_/);

/** A command that no other test asks for: a rejected one is denied from then on. */
function command(more: object = {}): { command: string } {
  return { command: `make deploy-${randomUUID()}`, ...more };
}

async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitFor(async () => expect(await condition()).toBe(true), { timeout: 10_000, interval: 10 });
}

/** Asks on a connection, and gives the id under which it waits. */
async function request(agent: RpcClient, params: object = command()): Promise<string> {
  const accepted = await agent.call('exec.approval.request', { ...params, two_phase: true });
  expect(accepted).toEqual({ status: 'accepted', id: ANY_APPROVAL, expires_at_ms: expect.any(Number) });
  return accepted.id;
}

async function listPending(client: RpcClient): Promise<{ id: string }[]> {
  return (await client.call('exec.approvals.pending')).pending;
}

describe('exec.approval.request', () => {
  test('waits for the decision and names it; the asker then consumes through REST', async () => {
    const [agent, approver] = [await open(AGENT), await open(APPROVER)];
    const asked = agent.call('exec.approval.request', command({ cwd: '/srv', env: { A: 'b' } }));
    await waitUntil(() => approver.notifications.length > 0);
    const { id } = approver.notifications[0]?.params ?? {};
    await approver.call('exec.approval.resolve', { id, decision: 'allow_once' });
    const answer = await asked;
    expect(answer).toMatchObject({ id, decision: 'allow_once', status: 'approved', edited: false });
    expectOk(await service.agent.post(`/v1/approvals/${id}/consume`, { action_hash: answer.action_hash }));
  });

  test('freezes a call of shell exec, with the argument vector, the paths and the session it named', async () => {
    const agent = await open(AGENT);
    const id = await request(agent, {
      command: "ls -l 'a b'",
      command_argv: ['ls', '-l', 'a b'],
      cwd: '/srv',
      env: { LANG: 'C' },
      resolved_paths: ['/bin/ls'],
      session_key: 'session-1',
    });
    const approval = await readApproval(service.approver, id);
    expect(approval.tool_call).toEqual({
      tool: 'shell',
      action: 'exec',
      resource: null,
      mutates_state: true,
      parameters: {
        command: "ls -l 'a b'",
        argv: ['ls', '-l', 'a b'],
        cwd: '/srv',
        env: { LANG: 'C' },
        resolved_paths: ['/bin/ls'],
      },
    });
    expect(approval.context).toMatchObject({ session_id: 'session-1', source_trust: 'trusted_internal' });
  });

  test('comes from an origin as trusted as the key’s ceiling', async () => {
    const { token } = await newAgent(service, { source_trust_ceiling: 'semi_trusted' });
    const approval = await readApproval(service.approver, await request(await open(token)));
    expect(approval.context).toMatchObject({ source_trust: 'semi_trusted' });
    expect(approval.scopes).toEqual(['once']);
  });

  test('is denied by its parameters when `command` is not the quoted form of the vector', async () => {
    const agent = await open(AGENT);
    const answer = await agent.call('exec.approval.request', { command: 'ls', command_argv: ['rm'] });
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^dec_/),
      decision: 'deny',
      denial: { by: 'parameters', instruction: expect.stringMatching(/./) },
    });
  });

  test('of what destroys the machine is denied by the floor, without an approval', async () => {
    const agent = await open(AGENT);
    const answer = await agent.call('exec.approval.request', { command: 'rm -rf /' });
    expect(answer).toMatchObject({ decision: 'deny', denial: { by: 'floor' } });
  });

  test('answers a no with the person’s own words, and asks nobody about the same command again', async () => {
    const [agent, approver] = [await open(AGENT), await open(APPROVER)];
    const what = command();
    const id = await request(agent, what);
    const waiting = agent.call('exec.approval.waitDecision', { id });
    await approver.call('exec.approval.resolve', { id, decision: 'deny', reason: 'wrong folder, use /tmp' });
    expect(await waiting).toMatchObject({
      id,
      decision: 'deny',
      reason: 'wrong folder, use /tmp',
      denial: { by: 'person', instruction: expect.stringContaining('"wrong folder, use /tmp"') },
    });
    expect(await agent.call('exec.approval.request', what)).toMatchObject({
      id: expect.stringMatching(/^dec_/),
      decision: 'deny',
      denial: { instruction: expect.stringContaining('"wrong folder, use /tmp"') },
    });
  });

  test('that nobody answers in its own time is withdrawn, and nothing is entered against it', async () => {
    const agent = await open(AGENT);
    const what = command({ timeout_ms: 200 });
    const answer = await agent.call('exec.approval.request', what);
    expect(answer).toMatchObject({ id: ANY_APPROVAL, decision: null, status: 'cancelled' });
    expect((await readApproval(service.approver, answer.id)).status).toBe('cancelled');
    expect(await agent.call('exec.approval.request', what)).toMatchObject({ decision: null });
  });

  test('in two phases ends in its own time as well', async () => {
    const agent = await open(AGENT);
    const before = Date.now();
    const accepted = await agent.call('exec.approval.request', command({ two_phase: true, timeout_ms: 300 }));
    expect(accepted.expires_at_ms).toBeLessThan(before + 10_000);
    expect(await agent.call('exec.approval.waitDecision', { id: accepted.id })).toMatchObject({
      decision: null,
      status: 'cancelled',
    });
  });

  test('that is detached outlives its time', async () => {
    const agent = await open(AGENT);
    const answer = await agent.call('exec.approval.request', command({ timeout_ms: 100, detached: true }));
    expect(answer).toMatchObject({ decision: null, status: 'pending' });
    expect((await readApproval(service.approver, answer.id)).status).toBe('pending');
  });

  test('is for agents alone', async () => {
    for (const token of [APPROVER, OPERATOR]) {
      const client = await open(token);
      expect(await client.fail('exec.approval.request', command())).toMatchObject({
        code: -32000,
        data: { code: 'forbidden', status: 403 },
      });
    }
  });
});

describe('exec.approval.waitDecision', () => {
  test('answers what was decided before, also of an ask that was made through REST', async () => {
    const agent = await open(AGENT);
    const id = await ask(service.agent, {
      tool: 'shell',
      action: 'exec',
      mutates_state: true,
      parameters: command(),
    });
    await service.approver.post(`/v1/approvals/${id}/approve`);
    expect(await agent.call('exec.approval.waitDecision', { id })).toMatchObject({
      id,
      decision: 'allow_once',
    });
  });

  test('of another agent’s approval says no more than of one that does not exist', async () => {
    const id = await request(await open(AGENT));
    const other = await open((await newAgent(service)).token);
    const failures = [
      await other.fail('exec.approval.waitDecision', { id }),
      await other.fail('exec.approval.waitDecision', { id: UNKNOWN_APPROVAL }),
    ];
    expect(failures.map(({ code, message, data }) => [code, message, data.code])).toEqual(
      failures.map(() => [-32602, failures[0]?.message, 'not_found']),
    );
  });
});

describe('exec.approval.resolve', () => {
  test.each([
    ['allow_once', 'allow_once'],
    ['allow-once', 'allow_once'],
    ['allow_session', 'allow_session'],
    ['allow-session', 'allow_session'],
    ['allow_always', 'allow_session'],
    ['allow-always', 'allow_session'],
    ['deny', 'deny'],
  ])('%s is taken as %s', async (decision, applied) => {
    const [agent, approver] = [await open(AGENT), await open(APPROVER)];
    const id = await request(agent, command({ session_key: randomUUID() }));
    const resolved = await approver.call('exec.approval.resolve', {
      id,
      decision,
      resolved_by: 'somebody else',
    });
    expect(resolved).toMatchObject({ ok: true, applied });
    expect(await agent.call('exec.approval.waitDecision', { id })).toMatchObject({ decision: applied });
    const { votes } = await readApproval(service.approver, id);
    expect(votes).toMatchObject([{ approver: 'approver-1' }]);
  });

  test('for a session allows the same command in that session from then on', async () => {
    const [agent, approver] = [await open(AGENT), await open(APPROVER)];
    const what = command({ session_key: randomUUID() });
    const id = await request(agent, what);
    await approver.call('exec.approval.resolve', { id, decision: 'allow_session' });
    expect(await agent.call('exec.approval.request', what)).toMatchObject({
      decision: 'allow_once',
      grant_id: expect.stringMatching(/^grt_/),
    });
  });

  test('for a session or for always is clamped to once where the ask named no session', async () => {
    const [agent, approver] = [await open(AGENT), await open(APPROVER)];
    for (const decision of ['allow_session', 'allow_always']) {
      const id = await request(agent);
      expect(await approver.call('exec.approval.resolve', { id, decision })).toEqual({
        ok: true,
        applied: 'allow_once',
        status: 'approved',
      });
    }
  });

  test('for an allowlist that is not offered is refused, and the ask goes on', async () => {
    const [agent, approver] = [await open(AGENT), await open(APPROVER)];
    const id = await request(agent);
    expect(await approver.fail('exec.approval.resolve', { id, decision: 'allowlist' })).toMatchObject({
      code: -32602,
      data: { code: 'invalid_request' },
    });
    expect((await readApproval(service.approver, id)).status).toBe('pending');
  });

  test('says the same of what is missing, decided, cancelled, expired, cut short, in upper case', async () => {
    const [agent, approver] = [await open(AGENT), await open(APPROVER)];
    const [decided, cancelled, expired, waiting] = [
      await request(agent),
      await request(agent),
      await request(agent),
      await request(agent),
    ];
    await approver.call('exec.approval.resolve', { id: decided, decision: 'deny' });
    await service.agent.post(`/v1/approvals/${cancelled}/cancel`);
    await service.sql`update approvals set created_at = created_at - interval '1 day',
      expires_at = clock_timestamp() - interval '1 millisecond' where approval_id = ${expired.slice(4)}`;
    const ids = [
      UNKNOWN_APPROVAL,
      decided,
      cancelled,
      expired,
      waiting.slice(0, -1),
      waiting.slice(0, 12),
      waiting.slice(4),
      waiting.toUpperCase(),
      `${waiting} `,
      '*',
    ];
    for (const id of ids) {
      const { code, message, data } = await approver.fail('exec.approval.resolve', { id, decision: 'deny' });
      expect({ code, message, problem: data.code, status: data.status }).toEqual({
        code: -32602,
        message: `approval not found or already resolved: ${id}`,
        problem: 'not_found',
        status: 404,
      });
      expect(Object.keys(data).toSorted()).toEqual([
        'code',
        'detail',
        'request_id',
        'status',
        'title',
        'type',
      ]);
    }
    expect((await readApproval(service.approver, waiting)).status).toBe('pending');
  });

  test('of an edited approval needs the hash of what it was edited into', async () => {
    const [agent, approver] = [await open(AGENT), await open(APPROVER)];
    const id = await request(agent);
    const toolCall = await editedCall(service.approver, id, { command: 'make staging' });
    const edited = await service.approver2.post(`/v1/approvals/${id}/edit`, { tool_call: toolCall });
    expectOk(edited);
    const { action_hash, original_action_hash } = edited.body;
    expect(await approver.fail('exec.approval.resolve', { id, decision: 'allow_once' })).toMatchObject({
      code: -32602,
      data: { code: 'precondition_required' },
    });
    const stale = { id, action_hash: original_action_hash };
    for (const decision of ['allow_once', 'deny']) {
      expect(await approver.fail('exec.approval.resolve', { ...stale, decision })).toMatchObject({
        code: -32000,
        data: { code: 'action_hash_mismatch' },
      });
    }
    const resolved = await approver.call('exec.approval.resolve', {
      id,
      decision: 'allow_once',
      action_hash,
    });
    expect(resolved).toMatchObject({ ok: true, status: 'approved' });
    expect(await agent.call('exec.approval.waitDecision', { id })).toMatchObject({
      edited: true,
      action_hash,
    });
  });

  test('is refused on a connection that asked, whatever its roles and whatever it would resolve', async () => {
    const both = await newActor(service, ['agent', 'approver']);
    const client = await open(both.token);
    const others = await request(await open(AGENT));
    const own = await request(client);
    for (const id of [own, others, UNKNOWN_APPROVAL]) {
      expect(await client.fail('exec.approval.resolve', { id, decision: 'allow_once' })).toMatchObject({
        data: { code: 'self_approval_forbidden' },
      });
    }
    const another = await open(both.token);
    expect(await another.fail('exec.approval.resolve', { id: own, decision: 'allow_once' })).toMatchObject({
      data: { code: 'self_approval_forbidden' },
    });
    expect(await another.call('exec.approval.resolve', { id: others, decision: 'allow_once' })).toMatchObject(
      {
        ok: true,
      },
    );
  });

  test('is refused in one batch with an ask, in either order of answers', async () => {
    const both = await newActor(service, ['agent', 'approver']);
    const client = await open(both.token);
    const id = await request(await open(AGENT));
    client.send([
      { jsonrpc: '2.0', id: 'a', method: 'exec.approval.request', params: command({ two_phase: true }) },
      { jsonrpc: '2.0', id: 'b', method: 'exec.approval.resolve', params: { id, decision: 'allow_once' } },
    ]);
    await waitUntil(() => client.others.length > 0);
    expect(client.others[0][1].error.data.code).toBe('self_approval_forbidden');
  });

  test('counts failed attempts with those of REST', async () => {
    const strict = await startTestService({
      databaseUrl: service.databaseUrl,
      env: { AEGIS_APPROVAL_ATTEMPT_LIMIT: '2' },
    });
    const { token, client: rest } = await newActor(service, ['approver']);
    const approver = await RpcClient.open(strict.url, token);
    const id = UNKNOWN_APPROVAL;
    await approver.fail('exec.approval.resolve', { id, decision: 'deny' });
    await rest.post(`/v1/approvals/${id}/reject`);
    expect(await approver.fail('exec.approval.resolve', { id, decision: 'deny' })).toMatchObject({
      code: -32000,
      data: { code: 'throttled', status: 429 },
    });
    await approver.close();
    await strict.close();
  });

  test('is for approvers alone', async () => {
    const id = await request(await open(AGENT));
    const operator = await open(OPERATOR);
    expect(await operator.fail('exec.approval.resolve', { id, decision: 'allow_once' })).toMatchObject({
      data: { code: 'forbidden' },
    });
  });
});

describe('exec.approvals.pending', () => {
  test('shows each command with what an operator may pick, and the session', async () => {
    const [agent, operator] = [await open(AGENT), await open(OPERATOR)];
    const session = randomUUID();
    const what = command({ session_key: session, cwd: '/srv' });
    const id = await request(agent, what);
    const entry = (await listPending(operator)).find((one) => one.id === id);
    expect(entry).toMatchObject({
      id,
      agent: 'agent-1',
      session_key: session,
      command: what.command,
      cwd: '/srv',
      scopes: expect.arrayContaining(['once', 'session']),
      decisions: ['allow_once', 'allow_session', 'deny'],
      action_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      created_at_ms: expect.any(Number),
      expires_at_ms: expect.any(Number),
    });
    const sessionless = await request(agent);
    expect((await listPending(operator)).find((one) => one.id === sessionless)).toMatchObject({
      session_key: null,
      decisions: ['allow_once', 'deny'],
    });
  });

  test('and notifications mask secrets for whoever did not ask', async () => {
    const secret = `ghp_${randomBytes(27).toString('hex').slice(0, 36)}`;
    const [agent, operator, approver] = [await open(AGENT), await open(OPERATOR), await open(APPROVER)];
    const id = await request(agent, { command: `curl -H 'Authorization: token ${secret}' https://a.test` });
    await waitUntil(() => approver.notifications.some(({ params }) => params.id === id));
    const entry = (await listPending(operator)).find((one) => one.id === id);
    expect(entry).toMatchObject({
      command: expect.stringMatching(/^curl /),
      masked: ['/parameters/command'],
    });
    expect(JSON.stringify([entry, approver.notifications])).not.toContain(secret);
  });

  test('lists no other tool’s, and every command however many there are', async () => {
    const [agent, approver] = [await open(AGENT), await open(APPROVER)];
    const refund = await ask(service.agent);
    const ids = await Promise.all(Array.from({ length: 60 }, () => request(agent)));
    const listed = (await listPending(approver)).map(({ id }) => id);
    expect(listed).toEqual(expect.arrayContaining(ids));
    expect(listed).not.toContain(refund);
  });

  test('is not for agents', async () => {
    const agent = await open(AGENT);
    expect(await agent.fail('exec.approvals.pending')).toMatchObject({ data: { code: 'forbidden' } });
  });
});

describe('the notifications', () => {
  test('tell every approver of an ask, of its edit and of its end, however it was made and ended', async () => {
    const approvers = [await open(APPROVER), await open(APPROVER2)];
    const id = await ask(service.agent, {
      tool: 'shell',
      action: 'exec',
      mutates_state: true,
      parameters: command(),
    });
    const told = (client: RpcClient, method: string) =>
      client.notifications.filter((one) => one.method === method && one.params.id === id);
    for (const client of approvers)
      await waitUntil(() => told(client, 'exec.approval.requested').length === 1);
    const toolCall = await editedCall(service.approver, id, { command: 'make edited' });
    await service.approver2.post(`/v1/approvals/${id}/edit`, { tool_call: toolCall });
    for (const client of approvers) {
      await waitUntil(() => told(client, 'exec.approval.requested').length === 2);
      expect(told(client, 'exec.approval.requested')[1]?.params).toMatchObject({
        command: 'make edited',
        edited: true,
      });
    }
    await service.approver.post(`/v1/approvals/${id}/reject`, { reason: 'not today' });
    for (const client of approvers) {
      await waitUntil(() => told(client, 'exec.approval.resolved').length === 1);
      expect(told(client, 'exec.approval.resolved')[0]?.params).toMatchObject({
        decision: 'deny',
        status: 'rejected',
        resolved_by: 'approver-1',
        reason: 'not today',
      });
    }
  });

  test('tell of an ask that expires', async () => {
    const approver = await open(APPROVER);
    const id = await request(await open(AGENT));
    await waitUntil(() => approver.notifications.some(({ params }) => params.id === id));
    await service.sql`update approvals set created_at = created_at - interval '1 day',
      expires_at = clock_timestamp() where approval_id = ${id.slice(4)}`;
    await waitUntil(() =>
      approver.notifications.some(({ method, params }) => method.endsWith('resolved') && params.id === id),
    );
    expect(approver.notifications.at(-1)?.params).toMatchObject({ decision: null, status: 'expired' });
  });

  test('reach neither operators nor agents, nor tell approvers of other tools', async () => {
    const [agent, operator, approver] = [await open(AGENT), await open(OPERATOR), await open(APPROVER)];
    await ask(service.agent);
    const id = await request(agent);
    await waitUntil(() => approver.notifications.some(({ params }) => params.id === id));
    expect(approver.notifications).toHaveLength(1);
    expect([...agent.notifications, ...operator.notifications]).toEqual([]);
  });
});
