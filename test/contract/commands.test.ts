import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorize } from '../support/calls.ts';
import { putPolicies, putTool } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { expectOk, newAgent, ROOMY } from './support.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
});
afterAll(() => service.close());

const exec = (command: string, parameters: object = {}) => ({
  tool: 'shell',
  action: 'exec',
  resource: null,
  mutates_state: true,
  parameters: { command, ...parameters },
});

describe('the floor', () => {
  test.each([
    ['rm -rf /', 'recursive-delete-of-root'],
    [':(){ :|:& };:', 'fork-bomb'],
    ['mkfs.ext4 /dev/sda1', 'format-filesystem'],
    ['dd if=/dev/zero of=/dev/sda', 'raw-device-write'],
    ['shutdown -h now', 'shutdown'],
    ['vssadmin delete shadows /all /quiet', 'shadow-copy-destruction'],
  ])('`%s` is refused by name', async (command, rule) => {
    const answer = await authorize(service.agent, exec(command));
    expectOk(answer, { decision: 'deny', determining_policies: ['command-floor'], approval: null });
    expect(answer.body.denial).toMatchObject({ by: 'floor', reason: expect.stringContaining(`\`${rule}\``) });
    expect(answer.body.denial.instruction).toContain('Do not retry');
  });

  test('holds under every tier, permission and exec approvals that let everything run', async () => {
    const { client, principal } = await newAgent(service);
    expectOk(await service.operator.call('PUT', '/v1/settings', { tier: 'full' }));
    expectOk(
      await service.operator.call('PUT', '/v1/tool-permissions', {
        items: [{ pattern: 'shell.exec', permission: 'allow' }],
      }),
    );
    expectOk(
      await service.operator.call('PUT', '/v1/exec-approvals', {
        document: { version: 1, defaults: {}, agents: { [principal]: { security: 'full', ask: 'off' } } },
      }),
    );
    expectOk(await authorize(client, exec('uname -a')), { decision: 'allow' });
    for (const tier of ['ask', 'auto', 'full']) {
      const answer = await authorize(client, exec('sudo rm -rf --no-preserve-root /'), { context: { tier } });
      expectOk(answer, { decision: 'deny', denial: { by: 'floor' } });
    }
    expectOk(await service.operator.call('PUT', '/v1/settings', { tier: 'auto' }));
    expectOk(await service.operator.call('PUT', '/v1/tool-permissions', { items: [] }));
    expectOk(
      await service.operator.call('PUT', '/v1/exec-approvals', {
        document: { version: 1, defaults: {}, agents: { '*': { security: 'full', ask: 'always' } } },
      }),
    );
  });

  test('is not reached by an edit', async () => {
    const asked = await authorize(service.agent, exec('ls -l'));
    const { approval_id: id } = asked.body.approval;
    const edited = await service.approver.post(`/v1/approvals/${id}/edit`, { tool_call: exec('rm -rf /') });
    expect(edited).toMatchObject({ status: 409, body: { code: 'edit_denied_by_policy' } });
  });

  test('holds for any tool whose registration names a command parameter', async () => {
    await putTool(service.operator, 'runner', 'script', {
      mutates_state: true,
      command_parameter: 'script',
      parameters_schema: { type: 'object', properties: { script: { type: 'string' } }, required: ['script'] },
    });
    await putPolicies(
      service.operator,
      '@id("runner-permitted") permit (principal, action == Aegis::Action::"runner.script", resource);',
    );
    const run = (script: string) =>
      authorize(service.agent, {
        tool: 'runner',
        action: 'script',
        resource: null,
        mutates_state: true,
        parameters: { script },
      });
    expectOk(await run('bash -c "rm -rf ~"'), { decision: 'deny', denial: { by: 'floor' } });
  });
});

describe('what policies read of a command', () => {
  test('is the executables, whether all is understood, and whether it is bound', async () => {
    const explained = await service.operator.post('/v1/policies/explain', {
      agent: 'agent-1',
      tool_call: exec('LANG=C git log | "he"ad -n 1; eval "$X"'),
      context: { source_trust: 'trusted_internal' },
    });
    expectOk(explained);
    expect(explained.body.facts.context.command).toMatchObject({
      floor: false,
      floor_rules: [],
      understood: false,
      executables: ['eval', 'git', 'head'],
      bound: false,
      // What is stored by now lets every agent run everything, and asks about it.
      matched: false,
      allowlisted: true,
    });
  });

  test('decides by a policy of the tenant, and a misspelt name of it is refused', async () => {
    const { client } = await newAgent(service);
    await putPolicies(
      service.operator,
      `@id("no-network-tools") @reason("no downloads here")
forbid (principal, action in Aegis::Action::"command", resource)
when { context has command && context.command.executables.containsAny(["curl", "wget"]) };`,
    );
    expectOk(await authorize(client, exec('sudo c""url -s localhost')), {
      decision: 'deny',
      determining_policies: ['no-network-tools'],
    });
    expectOk(await authorize(client, exec('git status')), { decision: 'require_approval' });
    const misspelt = await service.operator.post('/v1/policies/validate', {
      text: `@id("typo") forbid (principal, action in Aegis::Action::"command", resource)
when { context has command && context.command has allowlistd };`,
    });
    expectOk(misspelt, { valid: false });
  });
});

describe('an idempotent answer', () => {
  test('is not replayed once exec approvals have changed', async () => {
    const { client, principal } = await newAgent(service);
    const put = (security: string) =>
      service.operator.call('PUT', '/v1/exec-approvals', {
        document: { version: 1, defaults: {}, agents: { [principal]: { security, ask: 'off' } } },
      });
    const options = { headers: { 'Idempotency-Key': 'status-1' } };
    const body = { tool_call: exec('git status'), context: { source_trust: 'trusted_internal' } };
    expectOk(await put('full'));
    expectOk(await client.post('/v1/authorize', body, options), { decision: 'allow' });
    const repeated = await client.post('/v1/authorize', body, options);
    expectOk(repeated, { decision: 'allow' });
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    expectOk(await put('deny'));
    const denied = await client.post('/v1/authorize', body, options);
    expectOk(denied, { decision: 'deny', determining_policies: ['exec-security-denies'] });
    expect(denied.headers.get('idempotency-replayed')).toBeNull();
  });
});

describe('exec approvals that let an agent run nothing from now on', () => {
  test('void what it has open, pending and approved, and leave what others have', async () => {
    const { client, principal } = await newAgent(service);
    const other = await newAgent(service);
    const open = async (agent: typeof client) =>
      (await authorize(agent, exec('ls'))).body.approval.approval_id;
    const put = (agents: object) =>
      service.operator.call('PUT', '/v1/exec-approvals', {
        document: { version: 1, defaults: { security: 'full', ask: 'always' }, agents },
      });
    expectOk(await put({}));
    const [pending, approved, others] = [await open(client), await open(client), await open(other.client)];
    expectOk(await service.approver.post(`/v1/approvals/${approved}/approve`), { status: 'approved' });
    const waiting = client.get(`/v1/approvals/${pending}?wait=30`);

    expectOk(await put({ [principal]: { security: 'deny' } }));

    expectOk(await waiting, { status: 'voided', void_reason: 'policy' });
    const consumed = await client.post(`/v1/approvals/${approved}/consume`);
    expect(consumed).toMatchObject({ status: 409, body: { code: 'approval_voided', void_reason: 'policy' } });
    expectOk(await service.approver.get(`/v1/approvals/${others}`), { status: 'pending' });
  });
});
