import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { SLACK_ACTIONS, writeSlackButton } from '../../src/core/slack_button.ts';
import { exchange, request } from '../bad_input/raw.ts';
import {
  buttonsOf,
  clickBody,
  SIGNING_SECRET,
  SlackServer,
  signedHeaders,
  wordsOf,
} from '../notify/slack_server.ts';
import type { ApiClient } from '../support/api_client.ts';
import { ask, askApproved, makeKey, refund } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import {
  editedCall,
  expire,
  newAgent,
  newName,
  ROOMY,
  readApproval,
  UNKNOWN_APPROVAL,
  uuidOf,
  WRONG_HASH,
} from './support.ts';

const PATH = '/v1/callbacks/slack';
const FINANCE = 'U0FINANCE';
const SECURITY = 'U0SECURITY';

let slack: SlackServer;
let service: TestService;

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: an answer's members are what a test asserts
  body: any;
}

async function send(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
  url = service.url,
): Promise<Answer> {
  const response = await fetch(url + PATH, { method: 'POST', body, headers });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** Presses a button; what is said to whoever did. */
async function press(
  user: string,
  button: { action_id: string; value?: string } | undefined,
  more: object = {},
): Promise<string> {
  const body = clickBody(user, button, more);
  const answer = await send(body, signedHeaders(body));
  expect(answer).toMatchObject({
    status: 200,
    body: { response_type: 'ephemeral', replace_original: false },
  });
  return answer.body.text;
}

/** The button that a message of an approval has, as it stands now. */
async function buttonOf(
  id: string,
  decision: 'approve' | 'reject' = 'approve',
  more: Partial<Parameters<typeof writeSlackButton>[0]> = {},
) {
  const { version, action_hash, review } = await readApproval(service.approver, id);
  const value = writeSlackButton({
    approval_id: id,
    version,
    action_hash,
    view_hash: review.view_hash,
    ...more,
  });
  return { action_id: SLACK_ACTIONS[decision], value };
}

/** All that the database has of an approval and its votes. */
async function rowsOf(id: string): Promise<string> {
  const approval =
    await service.sql`select to_jsonb(a) as row from approvals a where approval_id = ${uuidOf(id)}`;
  const votes =
    await service.sql`select to_jsonb(v) as row from votes v where approval_id = ${uuidOf(id)} order by approver`;
  return JSON.stringify([approval, votes]);
}

async function map(
  principal: string,
  slackUser: string | null,
  groups: string[],
  more: object = {},
  operator: ApiClient = service.operator,
) {
  const answer = await operator.call('PUT', `/v1/principals/${principal}`, {
    groups,
    slack_user: slackUser,
    ...more,
  });
  expect(answer.status).toBe(200);
}

beforeAll(async () => {
  slack = new SlackServer();
  await slack.start();
  service = await startTestService({
    env: { ...slack.env, AEGIS_SLACK_SIGNING_SECRET: SIGNING_SECRET, ...ROOMY },
  });
  await map('approver-1', FINANCE, ['finance']);
  await map('approver-2', SECURITY, ['security']);
});
afterAll(async () => {
  await service.close();
  await slack.stop();
});

describe('without a secret', () => {
  test('the path is not served, signed or not', async () => {
    const without = await startTestService();
    const body = clickBody(FINANCE, undefined);
    const problems = await Promise.all([
      send(body, signedHeaders(body), without.url),
      send(body, {}, without.url),
      fetch(`${without.url}${PATH}`).then(async (answer) => ({
        status: answer.status,
        body: await answer.json(),
      })),
      fetch(`${without.url}/v1/callbacks/none`).then(async (answer) => ({
        status: answer.status,
        body: await answer.json(),
      })),
    ]);
    await without.close();
    const shown = problems.map(({ status, body: { request_id: _, ...rest } }) => ({ status, rest }));
    expect(shown[0]?.status).toBe(404);
    for (const problem of shown) expect(problem).toStrictEqual(shown[0]);
  });
});

describe('a request that Slack did not sign, not now, or not so', () => {
  const now = () => Math.floor(Date.now() / 1000);
  const body = clickBody(FINANCE, { action_id: 'aegis_open' });
  const signed = signedHeaders(body);
  const { 'x-slack-signature': signature = '', 'x-slack-request-timestamp': timestamp = '' } = signed;
  const without = (name: string) =>
    Object.fromEntries(Object.entries(signed).filter(([other]) => other !== name));

  const REFUSED: [string, string, () => Record<string, string>][] = [
    ['no signature at all', body, () => ({})],
    ['no signature', body, () => without('x-slack-signature')],
    ['no time', body, () => without('x-slack-request-timestamp')],
    ['a bearer token in its place', body, () => ({ authorization: `Bearer ${service.tokens.APPROVER}` })],
    ['another body', `${body}&a=1`, () => signedHeaders(body)],
    [
      'a body of which one letter differs',
      body.replace('U0FINANCE', 'U0SECURITY'),
      () => signedHeaders(body),
    ],
    ['no body', '', () => signedHeaders(body)],
    ['another secret', body, () => signedHeaders(body, { secret: `${SIGNING_SECRET}x` })],
    ['a secret of a zero byte', body, () => signedHeaders(body, { secret: '\0' })],
    ['a time more than five minutes ago', body, () => signedHeaders(body, { timestamp: now() - 302 })],
    ['a time more than five minutes ahead', body, () => signedHeaders(body, { timestamp: now() + 302 })],
    ['a time long ago', body, () => signedHeaders(body, { timestamp: 0 })],
    [
      'another time than the signed one',
      body,
      () => ({ ...signed, 'x-slack-request-timestamp': String(Number(timestamp) - 7) }),
    ],
    ['a time with a sign', body, () => ({ ...signed, 'x-slack-request-timestamp': `+${timestamp}` })],
    ['a time with a fraction', body, () => ({ ...signed, 'x-slack-request-timestamp': `${timestamp}.0` })],
    ['a time with an exponent', body, () => ({ ...signed, 'x-slack-request-timestamp': '17e8' })],
    ['a time in hex', body, () => ({ ...signed, 'x-slack-request-timestamp': '0x6553f100' })],
    ['a time that is none', body, () => ({ ...signed, 'x-slack-request-timestamp': 'NaN' })],
    ['an empty time', body, () => ({ ...signed, 'x-slack-request-timestamp': '' })],
    [
      'two times in one header',
      body,
      () => ({ ...signed, 'x-slack-request-timestamp': `${timestamp}, ${timestamp}` }),
    ],
    [
      'two signatures in one header',
      body,
      () => ({ ...signed, 'x-slack-signature': `${signature}, ${signature}` }),
    ],
    ['another version', body, () => ({ ...signed, 'x-slack-signature': signature.replace('v0', 'v1') })],
    ['no version', body, () => ({ ...signed, 'x-slack-signature': signature.slice(3) })],
    [
      'a signature in capitals',
      body,
      () => ({ ...signed, 'x-slack-signature': `v0=${signature.slice(3).toUpperCase()}` }),
    ],
    ['a signature that is cut', body, () => ({ ...signed, 'x-slack-signature': signature.slice(0, -1) })],
    ['a signature with more behind it', body, () => ({ ...signed, 'x-slack-signature': `${signature}0` })],
    ['a signature of other length and letters', body, () => ({ ...signed, 'x-slack-signature': 'v0=ää' })],
  ];

  test.each(REFUSED)('%s is 401', async (_, sent, headers) => {
    const answer = await send(sent, headers() as Record<string, string>).catch((error: unknown) => {
      // Not every header can be sent by every client.
      expect(String(error)).toMatch(/ByteString|Invalid/i);
      return { status: 401, body: { code: 'unauthenticated' } };
    });
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
  });

  test.each(['x-slack-signature', 'x-slack-request-timestamp'])(
    'a second %s is refused, as any single header',
    async (name) => {
      const headers = Object.entries(signedHeaders(body)).map(([key, value]) => `${key}: ${value}`);
      const twice = headers.filter((header) => header.startsWith(`${name}:`));
      const [answer] = await exchange(service.url, request('POST', PATH, [...headers, ...twice], body));
      expect(answer?.status).toBe(400);
      const [once] = await exchange(service.url, request('POST', PATH, headers, body));
      expect(once?.status).toBe(200);
    },
  );

  test('a body that is too large is refused before it is looked at', async () => {
    const large = 'payload='.padEnd(256 * 1024 + 1, 'x');
    expect(await send(large, signedHeaders(large))).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    });
  });

  test('decides nothing, whatever it says', async () => {
    const id = await ask(service.agent);
    const before = await rowsOf(id);
    const forged = clickBody(FINANCE, await buttonOf(id));
    expect((await send(forged, signedHeaders(forged, { secret: 'guess' }))).status).toBe(401);
    expect((await send(forged, signedHeaders(forged, { timestamp: now() - 600 }))).status).toBe(401);
    expect(await rowsOf(id)).toBe(before);
  });

  test('within five minutes either way it is taken, and whatever it holds', async () => {
    for (const offset of [-297, 297]) {
      expect((await send(body, signedHeaders(body, { timestamp: now() + offset }))).status).toBe(200);
    }
    const odd = new Uint8Array([0xff, 0xfe, 0x00, 0x26, 0x3d]);
    const umlauts = new TextEncoder().encode('payload=%7B%22ä%22%3A"ü"}');
    for (const bytes of [odd, umlauts, new Uint8Array(0)]) {
      const answer = await send(bytes, signedHeaders(bytes));
      expect(answer).toMatchObject({
        status: 200,
        body: { text: expect.stringMatching(/^Nothing was decided/) },
      });
    }
  });
});

describe('what Slack asks beside clicks', () => {
  test('its challenge is given back, its look and an opened link are answered with nothing', async () => {
    const challenge = JSON.stringify({ type: 'url_verification', token: 'x', challenge: '3eZbrw1aB' });
    expect(
      await send(challenge, { ...signedHeaders(challenge), 'content-type': 'application/json' }),
    ).toStrictEqual({
      status: 200,
      body: { challenge: '3eZbrw1aB' },
    });
    for (const body of ['ssl_check=1&token=x', clickBody(FINANCE, { action_id: SLACK_ACTIONS.open })]) {
      expect(await send(body, signedHeaders(body))).toStrictEqual({ status: 200, body: undefined });
    }
  });

  test.each([
    ['no form', 'hello'],
    ['a form without a payload', 'a=1'],
    ['two payloads', `${clickBody(FINANCE, undefined)}&${clickBody(FINANCE, undefined)}`],
    ['a payload that is no json', 'payload=%7B'],
    ['a payload of another type', new URLSearchParams({ payload: '{"type":"view_submission"}' }).toString()],
    [
      'a click of no user',
      new URLSearchParams({ payload: '{"type":"block_actions","actions":[]}' }).toString(),
    ],
    ['a button of another app', clickBody(FINANCE, { action_id: 'other', value: 'x' })],
    ['a button without a value', clickBody(FINANCE, { action_id: SLACK_ACTIONS.approve })],
    ['a value that is no json', clickBody(FINANCE, { action_id: SLACK_ACTIONS.approve, value: '{' })],
    ['a value of another form', clickBody(FINANCE, { action_id: SLACK_ACTIONS.approve, value: '{"v":2}' })],
  ])('of %s it is said that nothing was decided', async (_, body) => {
    const answer = await send(body, signedHeaders(body));
    expect(answer).toMatchObject({
      status: 200,
      body: { text: expect.stringMatching(/^Nothing was decided: this button/) },
    });
  });
});

describe('a click of a mapped approver', () => {
  test('on the message’s own button approves exactly what it showed, and the message says so', async () => {
    const id = await ask(service.agent);
    await vi.waitFor(() => expect(slack.of(id)).toHaveLength(1), 20_000);
    expect(await press(FINANCE, buttonsOf(slack.of(id)[0]).Approve)).toBe(
      'Approved: your vote is counted, and none is missing',
    );
    const { status, votes, decided_by, review } = await readApproval(service.approver, id);
    expect({ status, decided_by, votes }).toMatchObject({
      status: 'approved',
      decided_by: 'approver-1',
      votes: [{ approver: 'approver-1', decision: 'approve', scope: 'once' }],
    });
    const [vote] = await service.sql`select view_hash from votes where approval_id = ${uuidOf(id)}`;
    expect(vote?.view_hash).toBe(review.view_hash);
    await vi.waitFor(() => expect(wordsOf(slack.of(id)[0])).toContain('approver-1'), 20_000);
    await vi.waitFor(
      () => expect(Object.keys(buttonsOf(slack.of(id)[0]))).toStrictEqual(['Open in the console']),
      20_000,
    );
    expect((await service.agent.post(`/v1/approvals/${id}/consume`)).status).toBe(200);
  });

  test('rejects, also where the message could not show all', async () => {
    const id = await ask(service.agent);
    expect(await press(SECURITY, await buttonOf(id, 'reject', { view_hash: null }))).toBe(
      'Rejected: the agent is told no',
    );
    expect(await readApproval(service.approver, id)).toMatchObject({
      status: 'rejected',
      decided_by: 'approver-2',
    });
  });

  test('of two who must vote the first is told that one is missing, and the second completes it', async () => {
    const id = await ask(service.agent, refund(200_000));
    const button = await buttonOf(id);
    expect(await press(FINANCE, button)).toBe(
      'Your vote to approve is counted. Not decided yet: 1 vote is missing, of `security`',
    );
    expect(await readApproval(service.approver, id)).toMatchObject({ status: 'pending' });
    expect(await press(FINANCE, button)).toBe(
      'Your vote to approve is counted. Not decided yet: 1 vote is missing, of `security`',
    );
    expect(await press(SECURITY, button)).toBe('Approved: your vote is counted, and none is missing');
    expect(await press(FINANCE, button)).toMatch(
      /^Nothing was changed by your click: it was approved by `approver-2` at .*\. Your vote to approve is on it$/,
    );
  });

  test('sent again, to the byte, does nothing a second time and says what is true', async () => {
    const id = await ask(service.agent);
    const body = clickBody(FINANCE, await buttonOf(id));
    const headers = signedHeaders(body);
    expect((await send(body, headers)).body.text).toMatch(/^Approved/);
    const after = await rowsOf(id);
    expect((await send(body, headers)).body.text).toMatch(
      /^Nothing was changed by your click: it was approved by you at /,
    );
    await service.agent.post(`/v1/approvals/${id}/consume`);
    expect((await send(body, headers)).body.text).toMatch(
      /^Nothing was changed by your click: it was approved and has been used by you/,
    );
    expect(after).toContain('approved');
  });

  test('twice at once casts one vote', async () => {
    const id = await ask(service.agent, refund(200_000));
    const button = await buttonOf(id);
    const told = await Promise.all([1, 2, 3].map(() => press(FINANCE, button)));
    for (const text of told) expect(text).toMatch(/^Your vote to approve is counted/);
    expect((await readApproval(service.approver, id)).votes).toHaveLength(1);
  });

  test('is answered where Slack shows it, too, and nowhere else', async () => {
    const id = await ask(service.agent);
    const text = await press(FINANCE, await buttonOf(id), { response_url: `${slack.url}/actions` });
    await vi.waitFor(
      () =>
        expect(slack.replies.at(-1)).toStrictEqual({
          response_type: 'ephemeral',
          replace_original: false,
          text,
        }),
      20_000,
    );
    const elsewhere = new SlackServer();
    await elsewhere.start();
    await press(FINANCE, await buttonOf(id), { response_url: `${elsewhere.url}/actions` });
    const next = await press(SECURITY, await buttonOf(id), { response_url: `${slack.url}/actions` });
    await vi.waitFor(() => expect(slack.replies.at(-1)?.text).toBe(next), 20_000);
    expect(elsewhere.traffic).toStrictEqual([]);
    await elsewhere.stop();
  });
});

/** Asks, presses, and asserts what is said and that the database is as it was. */
async function expectRefusal(
  expected: RegExp,
  arrange: (id: string) => Promise<{ action_id: string; value?: string } | undefined>,
  options: { user?: string; toolCall?: object; client?: ApiClient } = {},
): Promise<void> {
  const id = await ask(options.client ?? service.agent, options.toolCall);
  const button = (await arrange(id)) ?? (await buttonOf(id));
  const before = await rowsOf(id);
  expect(await press(options.user ?? FINANCE, button)).toMatch(expected);
  expect(await rowsOf(id)).toBe(before);
}

describe('a click decides nothing, and says so and why,', () => {
  test('of somebody who is not mapped', async () => {
    await expectRefusal(
      /^Nothing was decided: you are not set up as an approver here\. .*`U0NOBODY`.*`slack_user`/,
      async () => undefined,
      { user: 'U0NOBODY' },
    );
    await expectRefusal(/^Nothing was decided: you are not set up[^<>]*$/, async () => undefined, {
      user: '<!channel>',
    });
    await expectRefusal(/^Nothing was decided: you are not set up/, async () => undefined, {
      user: FINANCE.toLowerCase(),
    });
  });

  test('of somebody whose mapping was taken away, or who is disabled', async () => {
    const principal = newName('gone');
    await makeKey(service.operator, { principal, roles: ['approver'] });
    await map(principal, 'U0GONE', []);
    await map(principal, null, []);
    await expectRefusal(/^Nothing was decided: you are not set up/, async () => undefined, {
      user: 'U0GONE',
    });
    await map(principal, 'U0GONE', [], { disabled: true });
    await expectRefusal(/^Nothing was decided: your principal is disabled/, async () => undefined, {
      user: 'U0GONE',
    });
  });

  test('of somebody without a key that stands', async () => {
    const principal = newName('keyless');
    const { id } = await makeKey(service.operator, { principal, roles: ['approver'] });
    await map(principal, 'U0KEYLESS', []);
    await service.operator.delete(`/v1/keys/${id}`);
    await expectRefusal(/^Nothing was decided: you have no approver key that stands/, async () => undefined, {
      user: 'U0KEYLESS',
    });
  });

  test('of somebody whose keys are for something else', async () => {
    const principal = newName('auditor');
    await makeKey(service.operator, { principal, roles: ['auditor'] });
    await map(principal, 'U0AUDITOR', []);
    await expectRefusal(/^Nothing was decided: you have no approver key that stands/, async () => undefined, {
      user: 'U0AUDITOR',
    });
  });

  test('of the agent itself, and of its owner', async () => {
    const agent = await newAgent(service, { owner: 'approver-1' });
    await expectRefusal(/^Nothing was decided: .*(own|behind)/, async () => undefined, {
      client: agent.client,
    });
  });

  test('of somebody whose group is not asked for, though others may vote', async () => {
    await map('approver-3', 'U0OTHER', ['support']);
    await expectRefusal(/^Nothing was decided: .*`finance`/, async () => undefined, {
      user: 'U0OTHER',
      toolCall: refund(200_000),
    });
  });

  test('on an approval that was edited since', async () => {
    await expectRefusal(
      /^Nothing was decided: the approval is no longer as this button had it/,
      async (id) => {
        const button = await buttonOf(id);
        const tool_call = await editedCall(service.approver, id, { amount: 8000 });
        await service.approver2.post(`/v1/approvals/${id}/edit`, { tool_call });
        return button;
      },
    );
  });

  test.each([
    ['the action', { action_hash: WRONG_HASH }],
    ['the view', { view_hash: WRONG_HASH }],
    ['no view', { view_hash: null }],
    ['the version', { version: 7 }],
  ])('with a button that has %s of another', async (_, more) => {
    await expectRefusal(/^Nothing was decided: the approval is no longer as this button had it/, (id) =>
      buttonOf(id, 'approve', more),
    );
  });

  test('with a button to reject another version', async () => {
    await expectRefusal(/^Nothing was decided: the approval is no longer/, (id) =>
      buttonOf(id, 'reject', { version: 2 }),
    );
  });

  test('on an approval that was decided elsewhere, by whom', async () => {
    await expectRefusal(
      /^Nothing was changed by your click: it was rejected by `approver-2` at \d{4}-/,
      async (id) => {
        const button = await buttonOf(id);
        await service.approver2.post(`/v1/approvals/${id}/reject`);
        return button;
      },
    );
    await expectRefusal(/^Nothing was changed by your click: it was taken back by `agent-1`/, async (id) => {
      const button = await buttonOf(id);
      await service.agent.post(`/v1/approvals/${id}/cancel`);
      return button;
    });
  });

  test('on an approval whose time has passed', async () => {
    const id = await ask(service.agent);
    const button = await buttonOf(id);
    await expire(service, id);
    expect(await press(FINANCE, button)).toMatch(/^Nothing was changed by your click: it expired at \d{4}-/);
    const [row] =
      await service.sql`select status, decided_by from approvals where approval_id = ${uuidOf(id)}`;
    expect(row).toStrictEqual({ status: 'pending', decided_by: null });
  });

  test('on an approval that was voided', async () => {
    const agent = await newAgent(service);
    await expectRefusal(
      /^Nothing was changed by your click: it was voided and cannot be used/,
      async (id) => {
        const button = await buttonOf(id);
        await service.operator.post(`/v1/agents/${agent.principal}/freeze`);
        return button;
      },
      { client: agent.client },
    );
  });

  test('where policy wants a signature', async () => {
    await putTool(service.operator, 'deploy', 'release', RELEASE);
    await putPolicies(service.operator, releaseAsk('@signature("webauthn")'));
    await expectRefusal(/^Nothing was decided: policy wants a vote that is signed/, async () => undefined, {
      toolCall: release('shop'),
    });
  });

  test('on what there is not, or is of another tenant', async () => {
    const value = {
      approval_id: UNKNOWN_APPROVAL,
      version: 1,
      action_hash: WRONG_HASH,
      view_hash: WRONG_HASH,
    };
    for (const approval_id of [UNKNOWN_APPROVAL, 'apr_x']) {
      const button = { action_id: SLACK_ACTIONS.approve, value: writeSlackButton({ ...value, approval_id }) };
      expect(await press(FINANCE, button)).toBe('Nothing was decided: there is no such approval here');
    }
  });

  test('after too many failed attempts, whose count is that of the person’s key', async () => {
    const principal = newName('clumsy');
    const user = `U${randomUUID().slice(0, 8).toUpperCase()}`;
    const { token } = await makeKey(service.operator, { principal, roles: ['approver'] });
    await map(principal, user, []);
    const id = await ask(service.agent);
    const wrong = await buttonOf(id, 'approve', { action_hash: WRONG_HASH });
    for (let attempt = 0; attempt < 5; attempt += 1)
      expect(await press(user, wrong)).toMatch(/no longer as this button/);
    expect(await press(user, await buttonOf(id))).toMatch(
      /^Nothing was decided: too many of your attempts on this approval failed\. Wait for \d+ seconds$/,
    );
    expect((await service.as(token).post(`/v1/approvals/${id}/approve`)).status).toBe(429);
    expect(await press(FINANCE, await buttonOf(id))).toMatch(/^Approved/);
  });
});

describe('the key with which a Slack user votes', () => {
  test('is the person’s newest approver key that stands: revoking it drops the vote', async () => {
    const principal = newName('voter');
    await map(principal, 'U0VOTER', ['finance']);
    const first = await makeKey(service.operator, { principal, roles: ['approver'] });
    const second = await makeKey(service.operator, { principal, roles: ['approver', 'auditor'] });
    const third = await makeKey(service.operator, { principal, roles: ['approver'] });
    await makeKey(service.operator, { principal, roles: ['auditor'] });
    await service.operator.delete(`/v1/keys/${third.id}`);
    const id = await ask(service.agent, refund(200_000));
    await press('U0VOTER', await buttonOf(id));
    await service.operator.delete(`/v1/keys/${first.id}`);
    expect((await readApproval(service.approver, id)).votes).toHaveLength(1);
    await service.operator.delete(`/v1/keys/${second.id}`);
    expect(await readApproval(service.approver, id)).toMatchObject({ votes: [], version: 2 });
    expect(await press('U0VOTER', await buttonOf(id))).toMatch(
      /^Nothing was decided: you have no approver key that stands/,
    );
  });

  test('is made once for somebody who never had one; operators see it, and revoking it ends it', async () => {
    const principal = newName('slack-only');
    await map(principal, 'U0ONLY', ['finance']);
    const ids = await Promise.all([ask(service.agent, refund(200_000)), ask(service.agent, refund(200_000))]);
    const buttons = await Promise.all(ids.map((id) => buttonOf(id)));
    for (const text of await Promise.all(buttons.map((button) => press('U0ONLY', button)))) {
      expect(text).toMatch(/^Your vote to approve is counted/);
    }
    const { body } = await service.operator.get('/v1/keys');
    const keys = body.items.filter((key: { principal: string }) => key.principal === principal);
    expect(keys).toMatchObject([{ roles: ['approver'], revoked_at: null }]);
    await service.operator.delete(`/v1/keys/${keys[0].id}`);
    for (const id of ids) expect((await readApproval(service.approver, id)).votes).toStrictEqual([]);
    expect(await press('U0ONLY', await buttonOf(ids[0]))).toMatch(
      /^Nothing was decided: you have no approver key/,
    );
    await makeKey(service.operator, { principal, roles: ['approver'] });
    expect(await press('U0ONLY', await buttonOf(ids[0]))).toMatch(/^Your vote to approve is counted/);
  });

  test('goes with the principal: disabling drops the vote', async () => {
    const principal = newName('leaver');
    await map(principal, 'U0LEAVER', ['finance']);
    const id = await ask(service.agent, refund(200_000));
    await press('U0LEAVER', await buttonOf(id));
    expect((await readApproval(service.approver, id)).votes).toHaveLength(1);
    await map(principal, 'U0LEAVER', ['finance'], { disabled: true });
    expect((await readApproval(service.approver, id)).votes).toStrictEqual([]);
  });
});

test('when the database cannot answer nothing is said to be decided', async () => {
  const id = await askApproved(service.agent, service.approver);
  const button = await buttonOf(id);
  await service.sql`alter table principals rename to principals_away`;
  try {
    expect(await press(FINANCE, button)).toMatch(
      /^The service cannot answer now, so take nothing as decided/,
    );
  } finally {
    await service.sql`alter table principals_away rename to principals`;
  }
  expect(await press(FINANCE, button)).toMatch(/^Nothing was changed by your click: it was approved by you/);
});
