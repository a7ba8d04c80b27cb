import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { canonicalize } from '../../src/core/canonical_json.ts';
import type { JsonValue } from '../../src/core/json.ts';
import type { ApiAnswer, ApiClient } from '../support/api_client.ts';
import { authorize, TRUSTED } from '../support/calls.ts';
import { putPolicies, putTool } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { type Actor, expectOk, expectProblem, newAgent, ROOMY, uuidOf } from './support.ts';

// The matrix of proposals that differ in one thing. A host stands at the end of each: it runs what the gate hands out
// and nothing else, and every effect it had is compared with those that a person or a policy gave their yes to.

let service: TestService;
let agent: Actor;
/** What the host wrote or ran, as canonical parameters, and what it had a yes for. */
let effects: string[];
let authorised: string[];

const POLICIES = `
@id("notes-write-asks")
@decision("require_approval")
@reason("a note is written when a person has seen it")
permit (principal is Aegis::Agent, action == Aegis::Action::"notes.write", resource);

@id("notes-stay-inside")
@reason("notes are written inside the workspace only")
forbid (principal is Aegis::Agent, action == Aegis::Action::"notes.write", resource)
unless { context.paths.path.inside_workspace };

@id("notes-leave-the-lock-file")
@reason("nobody writes the lock file")
forbid (principal is Aegis::Agent, action == Aegis::Action::"notes.write", resource)
when { context.paths.path.normal == "/srv/work/app.lock" };

@id("runner-exec-forbidden")
@reason("agents run no commands here")
forbid (principal is Aegis::Agent, action == Aegis::Action::"runner.exec", resource);
`;

const READS_ALLOWED = `
@id("notes-read-allowed")
permit (principal is Aegis::Agent, action == Aegis::Action::"notes.read", resource);
`;

beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
  const text = { type: 'string' };
  await putTool(service.operator, 'notes', 'write', {
    mutates_state: true,
    path_parameters: ['path'],
    parameters_schema: {
      type: 'object',
      properties: { path: text, content: text },
      required: ['path', 'content'],
    },
  });
  await putTool(service.operator, 'notes', 'read', {
    mutates_state: false,
    idempotent: true,
    parameters_schema: { type: 'object', properties: { path: text }, required: ['path'] },
  });
  await putTool(service.operator, 'runner', 'exec', {
    mutates_state: true,
    destructive: true,
    aliases: ['sh/run'],
    command_parameter: 'command',
    parameters_schema: { type: 'object', properties: { command: text }, required: ['command'] },
  });
});
afterAll(() => service.close());
beforeEach(async () => {
  await putPolicies(service.operator, POLICIES + READS_ALLOWED);
  agent = await newAgent(service, { workspace_root: '/srv/work' });
  effects = [];
  authorised = [];
});
afterEach(() => {
  expect(effects, 'no effect without a yes').toEqual(authorised);
});

function write(path: string, content = 'bounded change\n') {
  return {
    tool: 'notes',
    action: 'write',
    resource: null,
    mutates_state: true,
    parameters: { path, content },
  };
}

const textOf = (call: object): string => canonicalize(call as JsonValue);
const hashOf = (call: object): string => createHash('sha256').update(textOf(call)).digest('hex');

/** The host: spends an approval for the call it is about to run, and runs what it was handed. */
async function run(id: string, call: object, client: ApiClient = agent.client): Promise<ApiAnswer> {
  const answer = await client.post(`/v1/approvals/${id}/consume`, { action_hash: hashOf(call) });
  if (answer.status === 200) effects.push(textOf(answer.body.tool_call));
  return answer;
}

async function approve(call: object): Promise<string> {
  const asked = await authorize(agent.client, call);
  expectOk(asked, { decision: 'require_approval', action_hash: hashOf(call) });
  const id = asked.body.approval.approval_id;
  expectOk(await service.approver.post(`/v1/approvals/${id}/approve`), { status: 'approved' });
  return id;
}

test('the same path and content runs once for each yes', async () => {
  const call = write('approved.txt');
  const id = await approve(call);
  authorised.push(textOf(call));

  expectOk(await run(id, call), { status: 'consumed' });
  // The same proposal again is a question of its own.
  expectOk(await authorize(agent.client, call), { decision: 'require_approval' });
});

test('content changed after the approval does not run, and the approval is not spent by it', async () => {
  const call = write('approved.txt');
  const id = await approve(call);

  expectProblem(await run(id, write('approved.txt', 'another change\n')), 409, 'action_hash_mismatch');

  authorised.push(textOf(call));
  expectOk(await run(id, call), { status: 'consumed' });
});

describe('an equivalent spelling', () => {
  test('of the same json is the same action', async () => {
    const call = write('approved.txt', 'é');
    const rawBody = `{"context":${JSON.stringify(TRUSTED)},"tool_call":{"parameters":{"content":"\\u00e9",
      "path":"approved.txt"}, "mutates_state":true,"resource":null,"action":"write","tool":"notes"}}`;

    const answer = await agent.client.post('/v1/authorize', undefined, { rawBody });

    expectOk(answer, { decision: 'require_approval', action_hash: hashOf(call) });
  });

  test.each(['app.lock', './app.lock', 'a/../app.lock', '/srv/work/app.lock', '/srv//work/./app.lock'])(
    'of a path that policy forbids is the same path to policy: %s',
    async (path) => {
      expectOk(await authorize(agent.client, write(path)), {
        decision: 'deny',
        determining_policies: ['notes-leave-the-lock-file'],
      });
    },
  );

  test('of an approved path is another action all the same, since other bytes run', async () => {
    const id = await approve(write('approved.txt'));

    expectProblem(await run(id, write('./approved.txt')), 409, 'action_hash_mismatch');
  });
});

test.each([
  '/etc/passwd',
  '../secrets',
  'a/../../secrets',
  '/srv/workshop/x',
  '..\\secrets',
  '%2e%2e/secrets',
  'a\u0000b',
])('a path outside the workspace is denied: %j', async (path) => {
  expectOk(await authorize(agent.client, write(path)), {
    decision: 'deny',
    determining_policies: ['notes-stay-inside'],
    approval: null,
  });
});

test.each([
  ['runner', 'exec'],
  ['sh', 'run'],
  ['SH', 'Run'],
  [' sh', '%72un'],
])('a denied command behind the name %s/%s is denied as what it is', async (tool, action) => {
  const call = { tool, action, resource: null, mutates_state: false, parameters: { command: 'ls' } };

  const answer = await authorize(agent.client, call);

  expectOk(answer, {
    decision: 'deny',
    determining_policies: ['runner-exec-forbidden'],
    resolved: { tool: 'runner', action: 'exec' },
    approval: null,
  });
});

describe('after a policy revision', () => {
  test('what was allowed is decided by the new rules', async () => {
    const call = {
      tool: 'notes',
      action: 'read',
      resource: null,
      mutates_state: false,
      parameters: { path: 'a' },
    };
    expectOk(await authorize(agent.client, call), { decision: 'allow' });

    await putPolicies(service.operator, POLICIES);

    expectOk(await authorize(agent.client, call), { decision: 'deny', determining_policies: [] });
  });

  test('what was approved does not run when the new rules deny it', async () => {
    const call = write('approved.txt');
    const id = await approve(call);

    await putPolicies(
      service.operator,
      `${POLICIES}
@id("notes-are-closed")
forbid (principal is Aegis::Agent, action == Aegis::Action::"notes.write", resource);`,
    );

    expectProblem(await run(id, call), 409, 'policy_changed');
    expectProblem(await run(id, call), 409, 'approval_voided', { void_reason: 'policy' });
  });
});

test('an ask in a headless run is denied at once, and nobody is asked', async () => {
  const answer = await authorize(agent.client, write('approved.txt'), { context: { unattended: true } });

  expectOk(answer, { decision: 'deny', approval: null, denial: { by: 'unattended' } });
  const list = await service.approver.get(`/v1/approvals?agent=${agent.principal}`);
  expect(list.body.items).toEqual([]);
});

test('a consumed decision cannot be replayed, by token, by hash, or by another key of the agent', async () => {
  const call = write(`${randomUUID()}.txt`);
  const id = await approve(call);
  authorised.push(textOf(call));
  expectOk(await run(id, call), { status: 'consumed' });
  const made = await service.operator.post('/v1/keys', { principal: agent.principal, roles: ['agent'] });

  expectProblem(await run(id, call), 409, 'approval_already_consumed');
  expectProblem(await run(id, call, service.as(made.body.key)), 409, 'approval_already_consumed');
  const [row] = await service.sql`select count(*)::int as consumed from approvals
    where approval_id = ${uuidOf(id)} and status = 'consumed'`;
  expect(row?.consumed).toBe(1);
});
