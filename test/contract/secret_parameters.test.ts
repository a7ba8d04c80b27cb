import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BLOCKED_DETAIL } from '../../src/operations/report_outcome.ts';
import { ask, askApproved } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { expectOk, expectProblem, newActor, ROOMY, readApproval } from './support.ts';

const TOKEN = 'tok-7f3a9c';
/** Looks like a secret, in a parameter that no registration calls one. */
const PASSWORD = 'hunter2a-zebra';
const COMMAND = `mysql --password ${PASSWORD} --user root`;
const MASK = /^\(secret [0-9a-f]{8}\)$/;

let service: TestService;
let id: string;

beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
  await putTool(service.operator, 'deploy', 'release', RELEASE);
  await putPolicies(service.operator, releaseAsk(''));
  id = await ask(service.agent, release('shop', { token: TOKEN }));
});
afterAll(() => service.close());

describe('the value of a secret parameter', () => {
  test('is shown to the asking agent', async () => {
    const approval = await readApproval(service.agent, id);

    expect(approval).toMatchObject({ masked: [], tool_call: release('shop', { token: TOKEN }) });
    expect(approval.canonical_action).toContain(TOKEN);
  });

  test('is shown to nobody else, and where it is masked is said', async () => {
    const auditor = await newActor(service, ['auditor']);
    for (const client of [service.approver, service.operator, auditor.client]) {
      const answer = await client.get(`/v1/approvals/${id}`);
      const list = await client.get('/v1/approvals');

      expect(answer.text + list.text).not.toContain(TOKEN);
      expect(answer.body).toMatchObject({
        masked: ['/parameters/token'],
        canonical_action: null,
        tool_call: release('shop', { token: expect.stringMatching(MASK) }),
        original_tool_call: release('shop', { token: expect.stringMatching(MASK) }),
      });
      expect(answer.body.action_hash).toBe((await readApproval(service.agent, id)).action_hash);
    }
  });

  test('is not masked where there is none', async () => {
    const plain = await ask(service.agent, release('shop'));

    expect(await readApproval(service.approver, plain)).toMatchObject({
      masked: [],
      canonical_action: expect.stringContaining('shop'),
    });
  });

  test('stays as it is when an editor sends the mask back, and binds', async () => {
    const edited = await ask(service.agent, release('shop', { token: TOKEN }));
    const shown = await readApproval(service.approver2, edited);
    const answer = await service.approver2.post(`/v1/approvals/${edited}/edit`, {
      tool_call: release('other', { token: shown.tool_call.parameters.token }),
    });
    expectOk(answer, { masked: ['/parameters/token'] });
    expect(answer.text).not.toContain(TOKEN);
    const { action_hash } = answer.body;
    await service.approver.post(`/v1/approvals/${edited}/approve`, { action_hash });

    const consumed = await service.agent.post(`/v1/approvals/${edited}/consume`, { action_hash });

    expectOk(consumed, { tool_call: release('other', { token: TOKEN }) });
  });

  test('alone sent back changes nothing, and is no edit', async () => {
    const same = await ask(service.agent, release('shop', { token: TOKEN }));
    const shown = await readApproval(service.approver, same);

    const answer = await service.approver.post(`/v1/approvals/${same}/edit`, {
      tool_call: shown.tool_call,
    });

    expectProblem(answer, 422, 'invalid_request');
  });
});

describe('what looks like a secret in any parameter', () => {
  test('is masked in place for all but the asking agent, and where it is masked is said', async () => {
    const asked = await ask(service.agent, release(COMMAND));
    const answer = await service.approver.get(`/v1/approvals/${asked}`);

    expect(answer.text).not.toContain(PASSWORD);
    expect(answer.body).toMatchObject({ masked: ['/parameters/service'], canonical_action: null });
    expect(answer.body.tool_call.parameters.service).toMatch(
      /^mysql --password \(secret [0-9a-f]{8}\) --user root$/,
    );
    expect(await readApproval(service.agent, asked)).toMatchObject({
      masked: [],
      tool_call: release(COMMAND),
    });
    expect((await service.approver.get('/v1/approvals')).text).not.toContain(PASSWORD);
  });

  test('stays as it is, and binds, when an editor changes the words around it', async () => {
    const asked = await ask(service.agent, release(COMMAND));
    const { tool_call } = await readApproval(service.approver2, asked);
    const { service: shown } = tool_call.parameters;
    const answer = await service.approver2.post(`/v1/approvals/${asked}/edit`, {
      tool_call: release(shown.replace('root', 'nobody')),
    });
    expectOk(answer, { masked: ['/parameters/service'] });
    const { action_hash } = answer.body;
    await service.approver.post(`/v1/approvals/${asked}/approve`, { action_hash });

    const consumed = await service.agent.post(`/v1/approvals/${asked}/consume`, { action_hash });

    expectOk(consumed, { tool_call: release(COMMAND.replace('root', 'nobody')) });
  });

  test('as the name of a parameter never hides the parameter that is called as its mask is', async () => {
    await putTool(service.operator, 'open', 'call', { mutates_state: true });
    await putPolicies(
      service.operator,
      `${releaseAsk('')}
@id("open-call-asks")
@decision("require_approval")
permit (principal is Aegis::Agent, action == Aegis::Action::"open.call", resource);`,
    );
    const secretName = `password=${PASSWORD}`;
    const call = (parameters: object) => ({ ...release('shop'), tool: 'open', action: 'call', parameters });
    const alone = await readApproval(
      service.approver,
      await ask(service.agent, call({ [secretName]: 'one' })),
    );
    const [mask] = Object.keys(alone.tool_call.parameters);
    const both = await readApproval(
      service.approver,
      await ask(service.agent, call({ [secretName]: 'one', [mask as string]: 'two' })),
    );

    expect(mask).toMatch(/^password=\(secret [0-9a-f]{8}\)$/);
    expect(both.tool_call.parameters).toStrictEqual({
      [`${mask}+`]: expect.stringMatching(MASK),
      [mask as string]: 'two',
    });
  });

  test('is not taken for a mask that stands for nothing there', async () => {
    const asked = await ask(service.agent, release(COMMAND, { token: TOKEN }));
    const { tool_call } = await readApproval(service.approver2, asked);
    for (const parameters of [
      { service: 'mysql --password (secret 00000000)' },
      { service: tool_call.parameters.token },
      { service: 'x', token: 'prefix (secret 00000000)' },
    ]) {
      const answer = await service.approver2.post(`/v1/approvals/${asked}/edit`, {
        tool_call: { ...release(''), parameters },
      });
      expectProblem(answer, 422, 'invalid_request');
      expect(answer.body.errors[0].pointer).toMatch(/^\/tool_call\/parameters\//);
    }
  });
});

describe('words that hold a secret are stored and shown masked', () => {
  const words = `because password="${PASSWORD}" is known`;
  const stored = async (id: string) => {
    const [row] = await service.sql`
      select string_agg(t, ' ') as texts from (
        select row_to_json(a)::text as t from approvals a where a.approval_id = ${id.slice(4)}
        union all select row_to_json(v)::text from votes v where v.approval_id = ${id.slice(4)}
      ) all_texts`;
    return String(row?.texts);
  };

  test.each(['approve', 'reject', 'cancel'])('of who calls %s', async (verb) => {
    const asked = await ask(service.agent, release(`to ${verb}`), { justification: words });
    expectOk(
      await service.approver.post(`/v1/approvals/${asked}/${verb === 'cancel' ? 'approve' : verb}`, {
        reason: words,
      }),
    );
    if (verb === 'cancel') {
      expectOk(await service.approver.post(`/v1/approvals/${asked}/cancel`, { reason: words }));
    }
    const answer = await service.agent.get(`/v1/approvals/${asked}`);
    expect(answer.text).not.toContain(PASSWORD);
    expect(answer.body.context.justification).toMatch(/^because password="\(secret .{8}\)" is known$/);
    expect(await stored(asked)).toContain('(secret ');
    expect(await stored(asked)).not.toContain(PASSWORD);
  });

  test('of the agent on what became of it, and a private key is not stored at all', async () => {
    const key = ['-----BEGIN PRIV', 'ATE KEY-----'].join('');
    for (const [detail, shown] of [
      [words, expect.stringMatching(/^because password="\(secret .{8}\)" is known$/)],
      [`wrote ${key} MIIabc`, BLOCKED_DETAIL],
    ]) {
      const approved = await askApproved(service.agent, service.approver, release('to run'));
      await service.agent.post(`/v1/approvals/${approved}/consume`);
      const answer = await service.agent.post(`/v1/approvals/${approved}/outcome`, {
        outcome: 'executed',
        effect: 'occurred',
        detail,
      });
      expect(answer.body.outcome).toMatchObject({ detail: shown });
      expect(await stored(approved)).not.toContain('MIIabc');
    }
  });
});
