import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { editedCall, expire, newAgent, ROOMY, uuidOf } from '../contract/support.ts';
import { ask, askApproved, refund } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { createTestDatabase } from '../support/test_database.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { buttonsOf, SIGNING_SECRET, SlackServer, wordsOf } from './slack_server.ts';

const PATIENCE = { timeout: 20_000, interval: 25 };

let slack: SlackServer;
let service: TestService;

function wordsFor(id: string): string {
  return wordsOf(slack.of(id)[0]).replaceAll('\n', '');
}

/** Waits until an approval's one message says something. */
async function untilSaid(id: string, ...texts: string[]): Promise<void> {
  await vi.waitFor(() => {
    expect(slack.of(id)).toHaveLength(1);
    for (const text of texts) expect(wordsFor(id)).toContain(text);
  }, PATIENCE);
}

async function askInSlack(toolCall: object = refund(9000), client = service.agent): Promise<string> {
  const id = await ask(client, toolCall);
  await untilSaid(id, 'Approval requested');
  return id;
}

function expectNoDecision(id: string): void {
  expect(Object.keys(buttonsOf(slack.of(id)[0]))).toStrictEqual(['Open in the console']);
}

beforeAll(async () => {
  slack = new SlackServer();
  await slack.start();
  service = await startTestService({
    env: { ...slack.env, AEGIS_SLACK_SIGNING_SECRET: SIGNING_SECRET, ...ROOMY },
  });
});
afterAll(async () => {
  await service.close();
  await slack.stop();
});

describe('a message shows its approval as it stands', () => {
  test('when it is asked for: the view, why, what is needed, until when, the link and the buttons', async () => {
    const toolCall = refund(9000, { memo: 'customer asked twice' });
    const id = await ask(service.agent, toolCall, {
      workspace: 'repo:payments',
      justification: 'they asked',
    });
    await untilSaid(id, 'Approval requested');
    const { body } = await service.approver.get(`/v1/approvals/${id}`);
    const words = wordsFor(id);
    for (const { text } of body.review.lines) expect(words).toContain(text);
    for (const text of ['agent-1', body.reason, 'repo:payments', 'they asked', body.action_hash]) {
      expect(words).toContain(text);
    }
    expect(words).toContain('Needs 1 vote. Missing: 1 vote');
    expect(words).toContain(`Expires ${body.expires_at.slice(0, 19).replace('T', ' ')} UTC`);
    const { Approve, Reject, 'Open in the console': open } = buttonsOf(slack.of(id)[0]);
    expect(JSON.parse(Approve?.value ?? '')).toStrictEqual({
      v: 1,
      approval_id: id,
      version: 1,
      action_hash: body.action_hash,
      view_hash: body.review.view_hash,
    });
    expect(Reject?.value).toBe(Approve?.value);
    expect(open?.url).toBe(`${service.url.replace('127.0.0.1', 'localhost')}/console/approvals/${id}`);
  });

  test('when it is approved elsewhere, with who, when and why, and then when it is used', async () => {
    const id = await askInSlack();
    await service.approver.post(`/v1/approvals/${id}/approve`, { reason: 'seen <!channel> the invoice' });
    await untilSaid(id, 'Approved by approver-1 at ', 'seen <!channel> the invoice');
    expectNoDecision(id);
    await service.agent.post(`/v1/approvals/${id}/consume`);
    await untilSaid(id, 'Approved by approver-1', 'Used at ');
    expectNoDecision(id);
  });

  test('when it is rejected', async () => {
    const id = await askInSlack();
    await service.approver.post(`/v1/approvals/${id}/reject`, { reason: 'not this one' });
    await untilSaid(id, 'Rejected by approver-1 at ', 'not this one');
    expectNoDecision(id);
  });

  test('when one of two has voted', async () => {
    const id = await askInSlack(refund(200_000));
    expect(wordsFor(id)).toContain('Needs 2 votes, one each of finance, security. Missing: 2 votes');
    await service.approver.post(`/v1/approvals/${id}/approve`, { reason: 'fine by finance' });
    await untilSaid(id, 'approver-1 voted to approve at ', 'fine by finance', 'Missing: 1 vote, of security');
    expect(Object.keys(buttonsOf(slack.of(id)[0]))).toContain('Approve');
    await service.approver2.post(`/v1/approvals/${id}/approve`);
    await untilSaid(
      id,
      'Approved by approver-2',
      'approver-1 voted to approve',
      'approver-2 voted to approve',
    );
    expectNoDecision(id);
  });

  test('when it is edited: the new action, who changed it, and buttons for the new version', async () => {
    const id = await askInSlack();
    const tool_call = await editedCall(service.approver, id, { amount: 8000 });
    await service.approver.post(`/v1/approvals/${id}/edit`, { tool_call, reason: 'less will do' });
    await untilSaid(id, 'Approval requested, edited', 'approver-1 edited it at ', 'less will do', '8000');
    const { body } = await service.approver.get(`/v1/approvals/${id}`);
    expect(JSON.parse(buttonsOf(slack.of(id)[0]).Approve?.value ?? '')).toMatchObject({
      version: 2,
      action_hash: body.action_hash,
      view_hash: body.review.view_hash,
    });
  });

  test('when it is taken back, voided, or its time has passed', async () => {
    const agent = await newAgent(service);
    const [cancelled, expired, voided] = [
      await askInSlack(),
      await askInSlack(),
      await askInSlack(refund(9000), agent.client),
    ];
    await service.agent.post(`/v1/approvals/${cancelled}/cancel`, { reason: 'no longer needed' });
    await expire(service, expired);
    await service.operator.post(`/v1/agents/${agent.principal}/freeze`);
    await untilSaid(cancelled, 'Taken back by agent-1', 'no longer needed');
    await untilSaid(expired, 'Expired at ', 'before it was decided');
    await untilSaid(voided, 'Voided: the agent was frozen');
    for (const id of [cancelled, expired, voided]) expectNoDecision(id);
  });

  test('when a vote is dropped with its key', async () => {
    const { body } = await service.operator.post('/v1/keys', {
      principal: `approver-${randomUUID()}`,
      roles: ['approver'],
      groups: ['finance'],
    });
    const id = await askInSlack(refund(200_000));
    await service.as(body.key).post(`/v1/approvals/${id}/approve`);
    await untilSaid(id, 'Missing: 1 vote');
    await service.operator.delete(`/v1/keys/${body.id}`);
    await untilSaid(id, 'Missing: 2 votes');
    expect(JSON.parse(buttonsOf(slack.of(id)[0]).Approve?.value ?? '').version).toBe(2);
  });
});

describe('what may be approved in Slack was shown whole in Slack', () => {
  test('a view that does not fit has no button to approve, and says so', async () => {
    const id = await askInSlack({
      tool: 'shell',
      action: 'exec',
      mutates_state: true,
      resource: null,
      parameters: { command: Array.from({ length: 60 }, (_, i) => `echo ${i}`).join('; ') },
    });
    expect(Object.keys(buttonsOf(slack.of(id)[0]))).toStrictEqual(['Reject', 'Open in the console']);
    expect(wordsFor(id)).toContain('Not everything is shown here');
  });

  test('a value of which the middle is left out has none', async () => {
    const id = await askInSlack(refund(9000, { memo: 'm'.repeat(1_000) }));
    expect(Object.keys(buttonsOf(slack.of(id)[0]))).toStrictEqual(['Reject', 'Open in the console']);
    expect(wordsFor(id)).toContain('Of a long value only both ends are shown here');
  });

  test('an ask for a signed vote has none', async () => {
    await putTool(service.operator, 'deploy', 'release', RELEASE);
    await putPolicies(service.operator, releaseAsk('@signature("webauthn")'));
    const id = await askInSlack(release('shop'));
    expect(Object.keys(buttonsOf(slack.of(id)[0]))).toStrictEqual(['Reject', 'Open in the console']);
    expect(wordsFor(id)).toContain('signed with a passkey');
  });

  test('a command is asked for twice', async () => {
    const id = await askInSlack({
      tool: 'shell',
      action: 'exec',
      mutates_state: true,
      resource: null,
      parameters: { command: 'ls -l' },
    });
    expect(buttonsOf(slack.of(id)[0]).Approve).toHaveProperty('confirm');
  });
});

test('no secret reaches Slack, in whatever it stands', async () => {
  const secrets = Array.from({ length: 6 }, () => `ghp_${randomBytes(27).toString('hex').slice(0, 36)}`);
  const [inMemo, inWords, inReason, inEdit, whole, inResource] = secrets as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  await putTool(service.operator, 'deploy', 'release', RELEASE);
  await putPolicies(service.operator, releaseAsk(''));
  const first = await ask(
    service.agent,
    { ...refund(9000, { memo: `token ${inMemo}` }), resource: `x ${inResource}` },
    { justification: `with ${inWords}` },
  );
  const second = await askInSlack(release('shop', { token: whole }));
  const tool_call = await editedCall(service.approver, first, { memo: `other ${inEdit}` });
  await service.approver.post(`/v1/approvals/${first}/edit`, { tool_call, reason: `no ${inReason}` });
  await untilSaid(first, 'edited it at ');
  await service.approver.post(`/v1/approvals/${second}/reject`, { reason: `no ${inReason}` });
  await untilSaid(second, 'Rejected by', '(secret ');
  const traffic = slack.traffic.join('\n');
  expect(traffic).toContain('(secret ');
  expect(secrets.filter((secret) => traffic.includes(secret))).toStrictEqual([]);
});

test('strings that would mention, link or format are shown letter by letter', async () => {
  const hostile = [
    '<!channel> <!here>',
    '<@U012AB3CD> <#C012AB3CD>',
    '<https://evil.example|open the console>',
    '```` *bold* `code` :tada: &lt;!channel&gt;',
  ];
  for (const text of hostile) {
    const id = await ask(
      service.agent,
      { ...refund(9000, { memo: text }), resource: text },
      { justification: text, session_id: text },
    );
    await untilSaid(id, 'Approval requested');
    const [message] = slack.of(id);
    const json = JSON.stringify(message?.blocks);
    expect(wordsFor(id)).toContain(`"${text}"`);
    expect(json).not.toContain('"mrkdwn"');
    expect(json.match(/"url":"[^"]*"/g)?.every((url) => url.includes(`/console/approvals/${id}`))).toBe(true);
    expect(message?.text).toBe(`Approval requested: stripe refund by agent-1 (${id})`);
  }
  expect(
    slack.traffic.some((text) => text.includes('unfurl_links=false') && text.includes('link_names=false')),
  ).toBe(true);
});

describe('trouble with Slack delays, and loses nothing:', () => {
  test('down, then up: what is decided meanwhile is not asked for, what is pending is, once', async () => {
    const shown = await askInSlack();
    await slack.stop();
    await service.approver.post(`/v1/approvals/${shown}/approve`);
    const decided = await askApproved(service.agent, service.approver);
    const pending = await ask(service.agent);
    await vi.waitFor(() => expect(service.logged.length).toBeGreaterThan(0), PATIENCE);
    await slack.start();
    await untilSaid(pending, 'Approval requested');
    await untilSaid(shown, 'Approved by approver-1');
    expect(slack.of(decided)).toStrictEqual([]);
  });

  test('a rate that is limited: left alone for as long as Slack asks, and then told once', async () => {
    slack.mishaps.push({ kind: 'status', status: 429, headers: { 'retry-after': '2' } });
    const before = slack.calls.length;
    const id = await ask(service.agent);
    await untilSaid(id, 'Approval requested');
    const [first, second] = slack.calls.slice(before);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(1_900);
  });

  test.each([
    { kind: 'status', status: 503 },
    { kind: 'error', error: 'internal_error' },
    { kind: 'error', error: 'invalid_auth' },
  ] as const)('%j', async (mishap) => {
    slack.mishaps.push(mishap);
    await askInSlack();
  });

  test('an answer that is lost: told again, and what is noted is what is changed later', async () => {
    slack.mishaps.push({ kind: 'lost_answer' });
    const id = await ask(service.agent);
    await vi.waitFor(() => expect(slack.of(id)).toHaveLength(2), PATIENCE);
    await service.approver.post(`/v1/approvals/${id}/reject`);
    await vi.waitFor(() => expect(wordsOf(slack.of(id)[1])).toContain('Rejected'), PATIENCE);
  });

  test('blocks that Slack does not take: the message leads to the console, and has no button to approve', async () => {
    slack.mishaps.push({ kind: 'error', error: 'invalid_blocks' });
    const id = await ask(service.agent);
    await untilSaid(id, 'It cannot be shown here');
    expect(buttonsOf(slack.of(id)[0])).toStrictEqual({});
  });

  test('a message that somebody deleted: posted anew while it can be decided', async () => {
    const id = await askInSlack(refund(200_000));
    slack.messages.splice(slack.messages.indexOf(slack.of(id)[0] as never), 1);
    await service.approver.post(`/v1/approvals/${id}/approve`);
    await untilSaid(id, 'Missing: 1 vote');
  });

  test('what is logged has no word of what was sent, and not the token', () => {
    const logged = JSON.stringify(service.logged);
    expect(service.logged.length).toBeGreaterThan(3);
    expect(logged).not.toContain('stripe');
    expect(logged).not.toContain(slack.token);
  });
});

/** A service that starts beside others takes a while until it can decide. */
const SLOW = 120_000;

/** Starts a service on a database that others use too, and waits until it can decide. */
async function startBeside(databaseUrl: string, env: Record<string, string>): Promise<TestService> {
  const started = await startTestService({ env, databaseUrl });
  await vi.waitFor(async () => expect((await started.anonymous.get('/readyz')).status).toBe(200), {
    timeout: 60_000,
    interval: 100,
  });
  return started;
}

test(
  'of two services on one database one tells, and the other goes on when it stops',
  async () => {
    const database = await createTestDatabase();
    const env = { ...slack.env, AEGIS_SLACK_SIGNING_SECRET: SIGNING_SECRET };
    const first = await startBeside(database.url, env);
    const second = await startBeside(database.url, env);
    try {
      const client = second.as(first.tokens.AGENT);
      const ids = await Promise.all(Array.from({ length: 5 }, () => ask(client)));
      await vi.waitFor(
        () => expect(ids.map((id) => slack.of(id).length)).toStrictEqual([1, 1, 1, 1, 1]),
        PATIENCE,
      );
      await first.close();
      const id = await ask(client);
      await untilSaid(id, 'Approval requested');
      await second.as(first.tokens.APPROVER).post(`/v1/approvals/${ids[0]}/approve`);
      await untilSaid(ids[0] as string, 'Approved by approver-1');
      expect(ids.map((one) => slack.of(one).length)).toStrictEqual([1, 1, 1, 1, 1]);
    } finally {
      await second.close();
      await database.drop();
    }
  },
  SLOW,
);

test(
  'Slack configured later is told what is pending, and nothing that was decided; a restart tells nothing twice',
  async () => {
    const database = await createTestDatabase();
    const without = await startTestService({ databaseUrl: database.url });
    const { AGENT, APPROVER } = without.tokens;
    const decided = await askApproved(without.agent, without.approver);
    const pending = await ask(without.agent);
    await without.close();
    const takesNoClicks = await startBeside(database.url, slack.env);
    await untilSaid(pending, 'Approval requested', 'This service takes no clicks');
    expectNoDecision(pending);
    await takesNoClicks.close();
    const again = await startBeside(database.url, {
      ...slack.env,
      AEGIS_SLACK_SIGNING_SECRET: SIGNING_SECRET,
    });
    try {
      const last = await ask(again.as(AGENT));
      await untilSaid(last, 'Approval requested');
      expect(Object.keys(buttonsOf(slack.of(last)[0]))).toContain('Approve');
      await again.as(APPROVER).post(`/v1/approvals/${pending}/reject`);
      await untilSaid(pending, 'Rejected by approver-1');
      expect(slack.of(decided)).toStrictEqual([]);
    } finally {
      await again.close();
      await database.drop();
    }
  },
  SLOW,
);

test(
  'an incoming webhook tells what is asked, each version and what became of it, in messages of their own',
  async () => {
    const env = { AEGIS_SLACK_WEBHOOK_URL: `${slack.url}/hook`, AEGIS_SLACK_SIGNING_SECRET: SIGNING_SECRET };
    const posting = await startTestService({ env });
    const titles = (id: string) => slack.of(id).map((message) => wordsOf(message).split('\n')[0]);
    const untilTitled = (id: string, ...expected: string[]) =>
      vi.waitFor(() => expect(titles(id)).toStrictEqual(expected), PATIENCE);
    try {
      slack.mishaps.push({ kind: 'status', status: 500 });
      const id = await ask(posting.agent, refund(200_000));
      await untilTitled(id, 'Approval requested');
      expect(Object.keys(buttonsOf(slack.of(id)[0]))).toContain('Approve');
      await posting.approver.post(`/v1/approvals/${id}/approve`);
      const tool_call = await editedCall(posting.approver2, id, { amount: 9000 });
      await posting.approver2.post(
        `/v1/approvals/${id}/edit`,
        { tool_call },
        { headers: { 'If-Match': '"1"' } },
      );
      await untilTitled(id, 'Approval requested', 'Approval requested, edited');
      await posting.approver.post(`/v1/approvals/${id}/approve`, undefined, {
        headers: { 'If-Match': '"2"' },
      });
      await untilTitled(id, 'Approval requested', 'Approval requested, edited', 'Approved');
      await posting.agent.post(`/v1/approvals/${id}/consume`, {
        action_hash: (await posting.approver.get(`/v1/approvals/${id}`)).body.action_hash,
      });
      const next = await ask(posting.agent);
      await untilTitled(next, 'Approval requested');
      expect(titles(id)).toHaveLength(3);
      const [row] =
        await posting.sql`select channel, ts from slack_messages where approval_id = ${uuidOf(id)}`;
      expect(row).toStrictEqual({ channel: 'incoming-webhook', ts: '' });
    } finally {
      await posting.close();
    }
  },
  SLOW,
);
