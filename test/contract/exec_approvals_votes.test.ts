import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiAnswer, ApiClient } from '../support/api_client.ts';
import { ask, authorize, refund } from '../support/calls.ts';
import { command, listing, onMiss, putExecApprovals, readPatterns } from '../support/commands.ts';
import { putPolicies } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { type Actor, expectOk, expectProblem, newAgent, ROOMY } from './support.ts';

let service: TestService;
let agent: Actor;
beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
});
afterAll(() => service.close());
beforeEach(async () => {
  agent = await newAgent(service);
  await putPolicies(service.operator, '');
  await putExecApprovals(service.operator, onMiss());
});

const JQ = command('jq .', ['/usr/bin/jq']);
const ALLOWLIST = { scope: 'allowlist' };
const approve = (id: string, body: object = ALLOWLIST, approver: ApiClient = service.approver) =>
  approver.post(`/v1/approvals/${id}/approve`, body);
const patterns = () => readPatterns(service.operator, agent.principal);
const read = async (id: string): Promise<ApiAnswer['body']> =>
  (await service.approver.get(`/v1/approvals/${id}`)).body;

/** An ask of commands beside those of the base set. */
const shellAsk = (annotations: string) => `@id("shell-asks-more")
@decision("require_approval")
${annotations}
permit (
  principal is Aegis::Agent,
  action == Aegis::Action::"shell.exec",
  resource
)
unless { context has command && context.command.allowlisted };
`;

describe('a command that is asked for on a miss', () => {
  test('offers the scope `allowlist`, which lets its executables run from then on', async () => {
    const call = command('grep x a | wc -l', ['/usr/bin/grep', '/usr/bin/wc']);
    const id = await ask(agent.client, call);
    expect((await read(id)).scopes).toContain('allowlist');

    const answer = await approve(id);

    expectOk(answer, { status: 'approved' });
    expect(answer.body.votes).toMatchObject([{ scope: 'allowlist' }]);
    expect(await patterns()).toEqual(['/usr/bin/grep', '/usr/bin/wc']);
    const other = command('wc -c b', ['/usr/bin/wc']);
    expectOk(await authorize(agent.client, other), { decision: 'allow', grant_id: null });
    const elsewhere = command('wc -c b', ['/opt/bin/wc']);
    expectOk(await authorize(agent.client, elsewhere), { decision: 'require_approval' });
  });

  test('adds to the asking agent alone, and nothing that is listed already', async () => {
    await putExecApprovals(service.operator, onMiss({ '*': listing('/usr/bin/jq') }));
    const id = await ask(agent.client, command('jq . | wc', ['/usr/bin/jq', '/usr/bin/wc']));
    expectOk(await approve(id), { status: 'approved' });
    expect(await patterns()).toEqual(['/usr/bin/wc']);
    const other = await newAgent(service);
    expectOk(await authorize(other.client, command('wc', ['/usr/bin/wc'])), {
      decision: 'require_approval',
    });
  });

  test('may be approved for less, and then adds nothing', async () => {
    expectOk(await approve(await ask(agent.client, JQ), { scope: 'once' }), { status: 'approved' });
    expect(await patterns()).toEqual([]);
  });

  test.each<[what: string, call: object]>([
    ['a shell', command("sh -c 'jq .'", ['/bin/sh', '/usr/bin/jq'])],
    ['an interpreter', command('python3 -V', ['/usr/bin/python3'])],
    ['a wrapper', command('nice jq .', ['/usr/bin/nice', '/usr/bin/jq'])],
    ['a multiplexer', command('busybox wc', ['/bin/busybox', '/bin/wc'])],
    ['what is not understood', command('$TOOL .', ['/usr/bin/jq'])],
    ['no resolved paths', command('jq .')],
    ['too few resolved paths', command('jq . | wc', ['/usr/bin/jq'])],
    ['a path of another name', command('jq .', ['/usr/bin/wc'])],
    ['a redirection', command('jq . > out', ['/usr/bin/jq'])],
    ['an environment', command('jq .', ['/usr/bin/jq'], { env: { JQ_COLORS: '1' } })],
    ['an assignment', command('LANG=C jq .', ['/usr/bin/jq'])],
    ['a path that a pattern reads as wildcards', command("'/opt/a*b'", ['/opt/a*b'])],
  ])('of %s does not offer the scope, and refuses it', async (_, call) => {
    const id = await ask(agent.client, call);
    expect((await read(id)).scopes).not.toContain('allowlist');
    const answer = await approve(id);
    expectProblem(answer, 422, 'invalid_request', {
      errors: [{ pointer: '/scope', reason: expect.stringMatching(/./) }],
    });
    expectOk(await approve(id, {}), { status: 'approved' });
    expect(await patterns()).toEqual([]);
  });

  test('needs no policy that lets it be widened less far than a session', async () => {
    await putPolicies(service.operator, shellAsk('@max_scope("once")'));
    const id = await ask(agent.client, JQ);
    expect((await read(id)).scopes).toEqual(['once']);
    expectProblem(await approve(id), 403, 'scope_not_allowed');
    expect(await patterns()).toEqual([]);
  });

  test('is not put on an allowlist by who may not widen', async () => {
    const forbid = `@id("no-widening") @reason("nobody widens here")
      forbid (principal is Aegis::Approver, action == Aegis::Action::"widen", resource);`;
    await putPolicies(service.operator, forbid);
    expectProblem(await approve(await ask(agent.client, JQ)), 403, 'scope_not_allowed');
    expect(await patterns()).toEqual([]);
  });
});

describe('of two votes', () => {
  const vote = async (first: object, second: object) => {
    await putPolicies(service.operator, shellAsk('@votes("2") @max_scope("session")'));
    const id = await ask(agent.client, JQ, { session_id: 's-1' });
    expectOk(await approve(id, first), { status: 'pending' });
    expectOk(await approve(id, second, service.approver2), { status: 'approved' });
    const grants = await service.operator.get(`/v1/grants?agent=${agent.principal}`);
    return {
      patterns: await patterns(),
      grants: grants.body.items.map((one: { scope: string }) => one.scope),
    };
  };

  test('both must say `allowlist`', async () => {
    expect(await vote(ALLOWLIST, ALLOWLIST)).toEqual({ patterns: ['/usr/bin/jq'], grants: [] });
  });

  test('the narrower holds', async () => {
    expect(await vote(ALLOWLIST, { scope: 'once' })).toEqual({ patterns: [], grants: [] });
    expect(await vote({ scope: 'session' }, ALLOWLIST)).toEqual({ patterns: [], grants: ['session'] });
  });
});

describe('the scope `allowlist` is refused', () => {
  test('for what is no command', async () => {
    const id = await ask(agent.client, refund(9000));
    expect((await read(id)).scopes).not.toContain('allowlist');
    expectProblem(await approve(id), 422, 'invalid_request');
  });

  test.each([
    ['nothing is stored', undefined],
    ['every command is asked for', { ...onMiss(), defaults: { security: 'allowlist', ask: 'always' } }],
    ['every command may run once asked for', { ...onMiss(), defaults: { security: 'full', ask: 'always' } }],
  ])('where %s', async (_, document) => {
    await service.sql`delete from exec_approvals`;
    if (document !== undefined) await putExecApprovals(service.operator, document);
    const id = await ask(agent.client, JQ);
    expect((await read(id)).scopes).not.toContain('allowlist');
    expectProblem(await approve(id), 422, 'invalid_request');
    expectOk(await approve(id, {}), { status: 'approved' });
  });

  test('where exec approvals no longer ask on a miss', async () => {
    const id = await ask(agent.client, JQ);
    await putExecApprovals(service.operator, {
      ...onMiss(),
      defaults: { security: 'allowlist', ask: 'always' },
    });
    expectProblem(await approve(id), 422, 'invalid_request');
  });
});

describe('the use of an entry', () => {
  const entriesOf = async (of: string) =>
    (await service.operator.get('/v1/exec-approvals')).body.document.agents[of].allowlist;

  test('is recorded with the time, the command without its secrets, and the path', async () => {
    await putExecApprovals(service.operator, onMiss({ '*': listing('/usr/bin/c*', '/usr/bin/wc') }));
    const secret = `ghp_${'a1B2c3D4e5'.repeat(3)}F6g7H8`;
    const text = `curl -H 'Authorization: token ${secret}' https://api.github.com | wc -c`;
    const answer = await authorize(agent.client, command(text, ['/usr/bin/curl', '/usr/bin/wc']));
    expectOk(answer, { decision: 'allow' });

    const entries = await entriesOf('*');

    for (const [index, path] of ['/usr/bin/curl', '/usr/bin/wc'].entries()) {
      expect(entries[index]).toMatchObject({
        last_used_at: expect.stringMatching(/^\d{4}-/),
        last_used_command: expect.stringMatching(/^curl -H .* \| wc -c$/),
        last_resolved_path: path,
      });
    }
    expect(JSON.stringify(entries)).not.toContain(secret);
  });

  test('is the last one', async () => {
    await putExecApprovals(service.operator, onMiss({ '*': listing('/usr/bin/**') }));
    for (const name of ['wc', 'jq']) {
      expectOk(await authorize(agent.client, command(name, [`/usr/bin/${name}`])), { decision: 'allow' });
    }
    expect(await entriesOf('*')).toMatchObject([
      { last_used_command: 'jq', last_resolved_path: '/usr/bin/jq' },
    ]);
  });

  test('moves no hash, and stays when the document is put again', async () => {
    const { body: before } = await putExecApprovals(
      service.operator,
      onMiss({ '*': listing('/usr/bin/jq') }),
    );
    await authorize(agent.client, JQ);
    const { body: after } = await service.operator.get('/v1/exec-approvals');
    expect(after.hash).toBe(before.hash);
    expect(after.document).not.toEqual(before.document);
    const { body } = await putExecApprovals(service.operator, before.document);
    expect(body).toEqual(after);
  });

  test('is not recorded for a dry run, nor for what is only asked for', async () => {
    await putExecApprovals(service.operator, onMiss({ '*': listing('/usr/bin/jq') }));
    await authorize(agent.client, JQ, { dry_run: true });
    await ask(agent.client, command('jq . | wc', ['/usr/bin/jq', '/usr/bin/wc']));
    expect(await entriesOf('*')).toEqual([{ id: expect.any(String), pattern: '/usr/bin/jq' }]);
  });

  test('is recorded for the entries of a node as well, which must cover the command too', async () => {
    await putExecApprovals(service.operator, onMiss({ '*': listing('/usr/bin/*') }));
    const entry = { id: 'of-node', pattern: '/usr/bin/jq' };
    const document = JSON.stringify(onMiss({ '*': { allowlist: [entry] } }));
    await service.sql`insert into exec_approvals (tenant_id, node_id, document, hash, updated_at, updated_by)
      values ('default', 'repo:a', ${document}::text::jsonb, ${'f'.repeat(64)}, clock_timestamp(), 'operator-1')`;
    const there = { context: { workspace: 'repo:a' } };

    expectOk(await authorize(agent.client, JQ, there), { decision: 'allow' });

    const rows =
      await service.sql`select node_id, entry_id, resolved_path from exec_entry_uses order by node_id`;
    expect(rows).toMatchObject([
      { node_id: '', resolved_path: '/usr/bin/jq' },
      { node_id: 'repo:a', entry_id: 'of-node', resolved_path: '/usr/bin/jq' },
    ]);
    const wc = command('wc', ['/usr/bin/wc']);
    expectOk(await authorize(agent.client, wc, there), { decision: 'require_approval' });
    expectOk(await authorize(agent.client, wc), { decision: 'allow' });
    await service.sql`delete from exec_approvals`;
  });
});
