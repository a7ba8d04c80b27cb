import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SECTIONS } from '../../src/console/sections.ts';
import { ask, askApproved, authorize, refund } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { buttonOf, findForeignMarkup, has, partOf, textOf } from './page_html.ts';
import { person } from './people.ts';
import { type Browser, signIn } from './support.ts';

let service: TestService;
let approver: Browser;
let operator: Browser;
let auditor: Browser;

beforeAll(async () => {
  service = await startTestService({
    env: { AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '1000', AEGIS_PENDING_LIMIT: '500' },
  });
  approver = await signIn(service, service.tokens.APPROVER);
  operator = await signIn(service, service.tokens.OPERATOR);
  auditor = await person(service, { principal: 'auditor-1', roles: ['auditor'] });
  await putTool(service.operator, 'deploy', 'release', RELEASE);
  await putPolicies(service.operator, releaseAsk('@max_scope("window")'));
});
afterAll(() => service.close());

/** Links to approvals in a page, each once, in order. */
function linksIn(html: string): string[] {
  return [
    ...new Set([...html.matchAll(/href="\/console\/approvals\/(apr_[0-9a-f-]+)"/g)].map(([, id = '']) => id)),
  ];
}

/** Rejects three different asks of a session, which pauses it. */
async function pauseSession(session: string): Promise<void> {
  for (let count = 0; count < 3; count += 1) {
    const id = await ask(service.agent, refund(9000), { session_id: session });
    await service.approver.post(`/v1/approvals/${id}/reject`, { reason: `no ${count}` });
  }
}

describe('history', () => {
  test('is filtered by status, agent, tool and missing outcomes', async () => {
    const pending = await ask(service.agent, refund(9000));
    const used = await askApproved(service.agent, service.approver);
    await service.agent.post(`/v1/approvals/${used}/consume`);
    const of = async (query: string) => linksIn((await approver.get(`/console/history?${query}`)).html);
    expect(await of('')).toStrictEqual([used, pending]);
    expect(await of('status=pending')).toStrictEqual([pending]);
    expect(await of('outcome=missing')).toStrictEqual([used]);
    expect(await of('agent=AGENT-1&tool=Stripe&status=consumed')).toStrictEqual([used]);
    expect(await of('agent=nobody')).toStrictEqual([]);
    expect(await of('agent=%3Cb%3E')).toStrictEqual([]);
    const page = (await auditor.get('/console/history?status=consumed&agent=agent-1')).html;
    expect(page).toMatch(/<option value="consumed" selected/);
    expect(page).toContain('name="agent" value="agent-1"');
    expect(textOf(page)).toContain('approved and used');
  });

  test('tells of each approval what would run, so that two of one tool are told apart', async () => {
    const calls = [refund(9001), refund(9002)];
    for (const call of calls) await ask(service.agent, call);
    const text = textOf((await approver.get('/console/history?status=pending')).html);
    for (const call of calls) {
      expect(text).toContain(`"${call.resource}"`);
      expect(text).toContain(String(call.parameters.amount));
    }
  });

  test('has pages that together have every approval once', async () => {
    const asked: string[] = [];
    for (let count = 0; count < 60; count += 1) asked.push(await ask(service.agent, refund(9000)));
    let path: string | undefined = '/console/history?status=pending';
    const seen: string[] = [];
    for (let pages = 0; path !== undefined && pages < 9; pages += 1) {
      const { html } = await approver.get(path);
      seen.push(...linksIn(html));
      path = /rel="next" href="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toStrictEqual(expect.arrayContaining(asked));
    expect((await approver.get('/console/history?cursor=nonsense')).status).toBe(422);
    await service.sql`update approvals set status = 'cancelled', decided_at = clock_timestamp(), decided_by = 'x'
      where status = 'pending'`;
  });
});

describe('grants', () => {
  test('are listed until they end, and end at once by their button', async () => {
    const id = await ask(service.agent, release('api'), { session_id: 's-grant' });
    await service.approver.post(`/v1/approvals/${id}/approve`, { scope: 'session' });
    const page = (await approver.get('/console/grants')).html;
    expect(textOf(page)).toMatch(/deploy · release agent-1, session s-grant session 0/);
    const formId = /action="(\/console\/grants\/grt_[^"]+)"/.exec(page)?.[1] ?? '';
    const csrf = /name="csrf" value="([0-9a-f]+)"/.exec(page)?.[1] ?? '';
    const sent = await approver.post(formId, { csrf });
    expect([sent.status, sent.location]).toStrictEqual([303, '/console/grants']);
    expect((await service.operator.get('/v1/grants')).body.items).toStrictEqual([]);
    expect(textOf((await approver.get('/console/grants')).html)).toContain('No grant is in force.');
    expect((await approver.post(formId, { csrf })).status).toBe(404);
  });

  test('are not shown to auditors, as in the API', async () => {
    expect((await auditor.get('/console/grants')).status).toBe(403);
  });
});

describe('the navigation', () => {
  test('leads to the pages that its reader may open, and to all of them', async () => {
    const navigated = async (reader: Browser) => {
      const nav = /<nav class="nav".*?<\/nav>/s.exec((await reader.get('/console')).html)?.[0] ?? '';
      return [...nav.matchAll(/href="([^"]+)"/g)].map(([, path = '']) => path);
    };
    const all = Object.values(SECTIONS).map(({ path }) => path);
    for (const reader of [approver, operator, auditor]) {
      const paths = await navigated(reader);
      expect(paths.length).toBeGreaterThan(3);
      for (const path of all)
        expect((await reader.get(path)).status === 200, path).toBe(paths.includes(path));
    }
    expect(await navigated(approver)).toStrictEqual(all);
  });
});

describe('paused sessions', () => {
  test('are shown to all who read, and resumed by operators; the button of others says why it does nothing', async () => {
    await pauseSession('s/pause');
    for (const reader of [approver, auditor]) {
      const page = (await reader.get('/console/sessions')).html;
      expect(textOf(page)).toMatch(/agent-1 s\/pause 3 /);
      expect(buttonOf(page, 'resume-0')).toStrictEqual({
        isDisabled: true,
        why: 'An operator resumes it; you are signed in without that role.',
      });
    }
    const page = (await operator.get('/console/sessions')).html;
    expect(buttonOf(page, 'resume-0').isDisabled).toBe(false);
    const action = /action="(\/console\/agents\/[^"]+\/resume)"/.exec(page)?.[1] ?? '';
    const csrf = /name="csrf" value="([0-9a-f]+)"/.exec(page)?.[1] ?? '';
    expect(
      (
        await approver.post(action, {
          csrf:
            /name="csrf" value="([0-9a-f]+)"/.exec((await approver.get('/console/sessions')).html)?.[1] ?? '',
        })
      ).status,
    ).toBe(403);
    const sent = await operator.post(action, { csrf });
    expect([sent.status, sent.location]).toStrictEqual([303, '/console/agents/agent-1/sessions/s%2Fpause']);
    expect(textOf((await operator.get('/console/sessions')).html)).toContain('Nothing is paused.');
    const asked = await authorize(service.agent, refund(9000), { context: { session_id: 's/pause' } });
    expect(asked.body.decision).toBe('require_approval');
  });

  test('of a whole agent is one as well', async () => {
    await service.sql`insert into agent_pauses (tenant_id, agent, paused_at) values ('default', 'agent-1', clock_timestamp())
      on conflict (tenant_id, agent) do update set paused_at = clock_timestamp()`;
    const page = (await operator.get('/console/agents/agent-1')).html;
    expect(textOf(page)).toContain('The whole agent since');
    const action = /action="(\/console\/agents\/agent-1\/resume)"/.exec(page)?.[1] ?? '';
    const csrf = /name="csrf" value="([0-9a-f]+)"/.exec(page)?.[1] ?? '';
    expect((await operator.post(action, { csrf })).location).toBe('/console/agents/agent-1');
    expect(textOf((await operator.get('/console/agents/agent-1')).html)).toContain('Nothing here is paused.');
  });
});

describe('a timeline', () => {
  test('tells what a session asked for and what people said to it, newest first', async () => {
    const session = 's ä/1';
    const id = await ask(service.agent, release('web'), {
      session_id: session,
      justification: 'the customer waits',
    });
    await service.approver.post(`/v1/approvals/${id}/approve`, { reason: 'go on', scope: 'session' });
    await service.agent.post(`/v1/approvals/${id}/consume`, {
      action_hash: (await service.agent.get(`/v1/approvals/${id}`)).body.action_hash,
    });
    await service.agent.post(`/v1/approvals/${id}/outcome`, { outcome: 'executed' });
    const elsewhere = await ask(service.agent, release('db'), { session_id: 's-2' });
    const path = `/console/agents/agent-1/sessions/${encodeURIComponent(session)}`;
    const page = (await operator.get(path)).html;
    const text = textOf(page);
    expect(text).toMatch(
      /UTC reported as executed: .* UTC used: .* UTC approved by approver-1, for the session: .* UTC asked for: /,
    );
    expect(text).toContain('granted by approver-1 for the session: deploy release');
    expect(text).toContain('the customer waits');
    expect(text).toContain('go on');
    expect(linksIn(page)).not.toContain(elsewhere);
    expect(linksIn((await approver.get('/console/agents/agent-1')).html)).toContain(elsewhere);
  });

  test('shows rejections that still hold to operators alone', async () => {
    const id = await ask(service.agent, refund(9000), { session_id: 's-denied' });
    await service.approver.post(`/v1/approvals/${id}/reject`, { reason: 'never' });
    const path = '/console/agents/agent-1/sessions/s-denied';
    expect(textOf((await operator.get(path)).html)).toMatch(/rejection by approver-1 entered, which holds/);
    const text = textOf((await approver.get(path)).html);
    expect(text).toContain('rejected by approver-1');
    expect(text).not.toContain('which holds');
    expect(text).toContain('Operators are shown which rejections still hold as well.');
  });

  test('of who is no principal is not found', async () => {
    for (const path of [
      '/console/agents/nobody',
      '/console/agents/%3Cb%3E',
      '/console/agents/nobody/sessions/s',
    ]) {
      expect((await operator.get(path)).status).toBe(404);
    }
  });
});

describe('policy', () => {
  test('is shown whole to operators: revision, texts and tools', async () => {
    const page = (await operator.get('/console/policy')).html;
    const { body } = await service.operator.get('/v1/policies');
    const text = textOf(page);
    expect(text).toContain(`revision ${body.revision}`);
    expect(text).toContain('activated by operator');
    for (const id of [...Object.keys(body.base), ...Object.keys(body.tenant)]) {
      expect(has(page, `policy-${id}`), id).toBe(true);
    }
    expect(textOf(partOf(page, 'policy-deploy-release-asks'))).toContain('@max_scope("window")');
    expect(text).toMatch(/crm delete_customer mutates state, destructive – the base set/);
    expect(text).toMatch(/deploy release mutates state – this tenant/);
  });

  test('says to others which revision decides, and why no more', async () => {
    const page = (await approver.get('/console/policy')).html;
    const { body } = await service.operator.get('/v1/policies');
    expect(textOf(page)).toContain(`revision ${body.revision}`);
    expect(textOf(page)).toContain('Policies and tools are shown to operators');
    expect(page).not.toContain('permit (');
  });

  test('of an approval has its texts for operators, and its names for all', async () => {
    const id = await ask(service.agent, release('shown'));
    const forOperator = (await operator.get(`/console/approvals/${id}`)).html;
    expect(textOf(forOperator)).toContain('deploy-release-asks Its text @id("deploy-release-asks")');
    const forApprover = textOf((await approver.get(`/console/approvals/${id}`)).html);
    expect(forApprover).toContain('deploy-release-asks');
    expect(forApprover).not.toContain('@id(');
  });
});

describe('one approval', () => {
  test('says where it comes from, and when the same was done before', async () => {
    const call = { ...refund(9000), resource: 'ch_recent' };
    const former = await askApproved(service.agent, service.approver, call);
    await service.agent.post(`/v1/approvals/${former}/consume`);
    const context = {
      workspace: 'repo:payments',
      environment: 'production',
      session_id: 's-x',
      run_id: 'r-1',
    };
    const id = await ask(service.agent, call, context);
    const page = (await approver.get(`/console/approvals/${id}`)).html;
    const text = textOf(page);
    expect(text).toMatch(
      /workspace repo:payments environment production session s-x run r-1 source trust trusted internal/,
    );
    expect(linksIn(page)).toContain(former);
    expect(text).toMatch(/expires in (29|30) min/);
    expect(page).toContain('href="/console/agents/agent-1/sessions/s-x"');
    expect(findForeignMarkup(page)).toStrictEqual([]);
  });

  test('shows a long value folded, and the whole of it where the reader may see it', async () => {
    const memo = `${'a'.repeat(600)}MIDDLE${'b'.repeat(600)}`;
    const id = await ask(service.agent, refund(9000, { memo }));
    const page = (await approver.get(`/console/approvals/${id}`)).html;
    expect(textOf(page)).toContain('1206 characters in full, of SHA-256');
    expect(textOf(page)).toContain(`Show all of it ${memo}`);
    const hidden = await ask(service.agent, release('x', { token: `${'s3cretZ'.repeat(100)}` }));
    const masked = (await approver.get(`/console/approvals/${hidden}`)).html;
    expect(masked).not.toContain('s3cretZ');
    expect(textOf(masked)).toContain('holds a secret, and is not shown to you');
  });

  test('shows how deep each segment of a command stands', async () => {
    const command = 'sudo env A=1 rm -rf build';
    const call = {
      tool: 'shell',
      action: 'exec',
      resource: null,
      mutates_state: true,
      parameters: { command },
    };
    const page = (await approver.get(`/console/approvals/${await ask(service.agent, call)}`)).html;
    expect(page).toContain('class="depth-1"');
    expect(textOf(page)).toContain('inside, level 2:');
  });

  test('that is not there, or another tenant’s, is not found', async () => {
    const statuses = ['apr_nonsense', 'apr_01a22d15-d768-740e-9885-a3383105a0ea'].map(
      async (id) => (await approver.get(`/console/approvals/${id}`)).status,
    );
    expect(await Promise.all(statuses)).toStrictEqual([404, 404]);
  });

  test('that was viewed by an approver is kept as shown to them, once; a list shows none', async () => {
    const id = await ask(service.agent, refund(9000));
    const shown = async () =>
      (await service.sql`select principal from approval_views where approval_id = ${id.slice(4)}::uuid`).map(
        ({ principal }) => principal,
      );
    await approver.get('/console');
    await auditor.get(`/console/approvals/${id}`);
    expect(await shown()).toStrictEqual([]);
    await approver.get(`/console/approvals/${id}`);
    await approver.get(`/console/approvals/${id}`);
    expect(await shown()).toStrictEqual(['approver-1']);
  });
});
