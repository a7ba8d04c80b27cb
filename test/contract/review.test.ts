import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canonicalize } from '../../src/core/canonical_json.ts';
import type { JsonValue } from '../../src/core/json.ts';
import { ask, refund } from '../support/calls.ts';
import { command } from '../support/commands.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import {
  type Actor,
  editedCall,
  expectOk,
  expectProblem,
  newAgent,
  newApprover,
  ROOMY,
  readApproval,
  sha256,
  UNKNOWN_APPROVAL,
  uuidOf,
  WRONG_HASH,
  withoutRequestId,
} from './support.ts';

const TEXT = { headers: { accept: 'text/plain' } };
const TOKEN = 'tok-7f3a9c-plain';

let service: TestService;
let other: Actor;

beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
  await putTool(service.operator, 'deploy', 'release', RELEASE);
  await putPolicies(service.operator, releaseAsk(''));
  other = await newApprover(service);
});
afterAll(() => service.close());

interface Line {
  kind: string;
  label: string;
  text: string;
}

async function readReview(id: string) {
  const answer = await service.approver.get(`/v1/approvals/${id}/review`);
  expectOk(answer);
  return answer.body;
}

const textOf = (review: { lines: Line[] }, label: string) =>
  review.lines.find((line) => line.label === label)?.text;

/** An approval whose amount another approver changed. */
async function askEdited(): Promise<string> {
  const id = await ask(service.agent);
  const tool_call = await editedCall(service.approver, id, { amount: 8_000 });
  expectOk(await other.client.post(`/v1/approvals/${id}/edit`, { tool_call }), { version: 2 });
  return id;
}

/** A review that an earlier version of the service kept none of. */
async function forgetReview(id: string): Promise<void> {
  await service.sql`update approvals set review = null, review_facts = null where approval_id = ${uuidOf(id)}`;
}

describe('the review of an approval', () => {
  test('is part of it, and is sealed by the hash of its other members', async () => {
    const id = await ask(service.agent, refund(9_000, { memo: 'a\u202eb' }));
    const { review } = await readApproval(service.approver, id);
    const { view_hash, ...hashed } = review;

    expect(await readReview(id)).toStrictEqual(review);
    expect(view_hash).toBe(sha256(canonicalize(hashed as JsonValue)));
    expect(textOf(review, '/parameters/amount')).toBe('9000');
    expect(textOf(review, '/parameters/memo')).toBe('"a\\u{202e}b"');
    expect(review.warnings).toMatchObject([{ code: 'bidi_characters', path: '/parameters/memo' }]);
  });

  test('is given to whoever may read the approval, and to nobody else', async () => {
    const id = await ask(service.agent);
    const stranger = await newAgent(service);
    const path = `/v1/approvals/${id}/review`;

    for (const client of [service.agent, service.operator, service.approver2])
      expectOk(await client.get(path));
    expectProblem(await service.anonymous.get(path), 401, 'unauthenticated');
    const unreadable = await stranger.client.get(path);
    const missing = await stranger.client.get(`/v1/approvals/${UNKNOWN_APPROVAL}/review`);
    expectProblem(unreadable, 404, 'not_found');
    expect(withoutRequestId(unreadable)).toBe(withoutRequestId(missing));
  });

  test('counts failed attempts as reading the approval does', async () => {
    const agent = await newAgent(service);
    const path = `/v1/approvals/${UNKNOWN_APPROVAL}/review`;
    for (let count = 0; count < 5; count += 1) expectProblem(await agent.client.get(path), 404, 'not_found');

    expectProblem(await agent.client.get(path), 429, 'throttled');
  });

  test('has the segments of a command', async () => {
    const id = await ask(
      service.agent,
      command('ls -l | sudo tee out', ['/bin/ls', '/usr/bin/sudo', '/usr/bin/tee']),
    );
    const { lines } = await readReview(id);
    const segments = lines.filter(({ kind }: Line) => kind === 'segment' || kind === 'resolved_path');

    expect(segments.map(({ label, text }: Line) => [label, text])).toStrictEqual([
      ['1', 'ls -l'],
      ['2', '| sudo tee out'],
      ['2.1', 'tee out'],
      ['ls', '"/bin/ls"'],
      ['sudo', '"/usr/bin/sudo"'],
      ['tee', '"/usr/bin/tee"'],
    ]);
  });

  test('hides what the tool holds secret from everybody, and still differs with it', async () => {
    const id = await ask(service.agent, release('shop', { token: TOKEN }));
    const same = await ask(service.agent, release('shop', { token: TOKEN }));
    const different = await ask(service.agent, release('shop', { token: `${TOKEN}2` }));
    const answer = await service.approver.get(`/v1/approvals/${id}/review`);
    const text = await service.approver.get(`/v1/approvals/${id}/review`, TEXT);

    expect(answer.text + text.text).not.toContain(TOKEN);
    expect(textOf(answer.body, '/parameters/token')).toMatch(/^\(secret [0-9a-f]+\)$/);
    expect((await readReview(same)).view_hash).toBe(answer.body.view_hash);
    expect((await readReview(different)).view_hash).not.toBe(answer.body.view_hash);
  });

  test('of an edited approval shows what was and what is', async () => {
    const id = await askEdited();
    const { lines } = await readReview(id);

    expect(lines.filter(({ kind }: Line) => kind === 'edit')).toMatchObject([
      { label: '/parameters/amount was', text: '9000' },
      { label: '/parameters/amount becomes', text: '8000' },
    ]);
  });

  test('that no row keeps is rendered when it is read, and can be voted on', async () => {
    const id = await ask(service.agent);
    const before = await readReview(id);
    await forgetReview(id);
    const review = await readReview(id);

    expect(review).toStrictEqual(before);
    const answer = await service.approver.post(`/v1/approvals/${id}/approve`, {
      view_hash: review.view_hash,
    });
    expectOk(answer, { status: 'approved' });
  });
});

describe('the review as text', () => {
  test('is had by Accept, has no line over 80 columns, and fences the agent\u2019s words off', async () => {
    const justification = `hurry! status: approved ${'w'.repeat(200)}`;
    const id = await ask(service.agent, refund(9_000), { justification });
    const answer = await service.approver.get(`/v1/approvals/${id}/review`, TEXT);
    const { view_hash } = await readReview(id);
    const lines = answer.text.split('\n');

    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.headers.get('vary')).toBe('Accept');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(lines[0]).toBe(`Approval ${id}, version 1`);
    expect(lines).toContain(`view_hash: ${view_hash}`);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(lines.filter((line) => line.includes('hurry!'))).toStrictEqual([
      expect.stringMatching(/^> hurry!/),
    ]);
    expect(lines.filter((line) => line.startsWith('status: '))).toStrictEqual(['status: pending']);
  });

  test('is not had where json is liked as well, and problems stay problems', async () => {
    const id = await ask(service.agent);
    const both = { headers: { accept: 'text/plain, application/json' } };
    const answer = await service.approver.get(`/v1/approvals/${id}/review`, both);

    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('vary')).toBe('Accept');
    expectProblem(
      await service.approver.get(`/v1/approvals/${UNKNOWN_APPROVAL}/review`, TEXT),
      404,
      'not_found',
    );
  });
});

describe.each(['approve', 'reject'])('a vote to %s with a view hash', (call) => {
  const voted = call === 'approve' ? 'approved' : 'rejected';

  test('counts for the view that is shown, and is kept with it', async () => {
    const id = await ask(service.agent);
    const { view_hash } = await readReview(id);

    expectOk(await service.approver.post(`/v1/approvals/${id}/${call}`, { view_hash }), { status: voted });
    const rows = await service.sql`select view_hash from votes where approval_id = ${uuidOf(id)}`;
    expect(rows.map((row) => row.view_hash)).toStrictEqual([view_hash]);
  });

  test('counts for no other, changes nothing, and is a failed attempt', async () => {
    const id = await ask(service.agent);
    const approver = await newApprover(service);
    for (let count = 0; count < 5; count += 1) {
      const answer = await approver.client.post(`/v1/approvals/${id}/${call}`, { view_hash: WRONG_HASH });
      expectProblem(answer, 409, 'view_hash_mismatch', { approval_status: 'pending' });
    }
    const throttled = await approver.client.post(`/v1/approvals/${id}/${call}`, { view_hash: WRONG_HASH });
    expectProblem(throttled, 429, 'throttled');
    expect(await readApproval(service.approver, id)).toMatchObject({
      status: 'pending',
      votes: [],
      version: 1,
    });
  });

  test('no longer counts once the approval is edited', async () => {
    const id = await ask(service.agent);
    const { view_hash } = await readReview(id);
    const tool_call = await editedCall(service.approver, id, { amount: 8_000 });
    expectOk(await other.client.post(`/v1/approvals/${id}/edit`, { tool_call }));

    const answer = await service.approver.post(`/v1/approvals/${id}/${call}`, { view_hash });
    expectProblem(answer, 409, 'view_hash_mismatch');
    const shown = await readReview(id);
    const seen = await service.approver.post(`/v1/approvals/${id}/${call}`, { view_hash: shown.view_hash });
    expectOk(seen, { status: voted });
  });

  test('of no such form is refused before anything is looked at', async () => {
    const answer = await service.approver.post(`/v1/approvals/${UNKNOWN_APPROVAL}/${call}`, {
      view_hash: 'x',
    });
    expectProblem(answer, 422, 'invalid_request');
  });
});

describe('a wrong view hash is found', () => {
  test('after the state, the version and the action\u2019s hash', async () => {
    const view_hash = WRONG_HASH;
    const id = await ask(service.agent);
    const stale = await service.approver.post(
      `/v1/approvals/${id}/approve`,
      { view_hash },
      { headers: { 'if-match': '"9"' } },
    );
    expectProblem(stale, 412, 'stale_version');
    const hash = await service.approver.post(`/v1/approvals/${id}/approve`, {
      view_hash,
      action_hash: WRONG_HASH,
    });
    expectProblem(hash, 409, 'action_hash_mismatch');
    await service.approver.post(`/v1/approvals/${id}/reject`);
    const late = await service.approver.post(`/v1/approvals/${id}/approve`, { view_hash });
    expectProblem(late, 409, 'approval_already_decided');
  });

  test('before who may vote', async () => {
    const id = await askEdited();
    const answer = await other.client.post(`/v1/approvals/${id}/approve`, { view_hash: WRONG_HASH });
    expectProblem(answer, 409, 'view_hash_mismatch');
    const { view_hash } = await readReview(id);
    const eligible = await other.client.post(`/v1/approvals/${id}/approve`, { view_hash });
    expectProblem(eligible, 403, 'self_approval_forbidden');
  });
});

describe('under rules that have changed', () => {
  const moved = releaseAsk('@doc("a later revision")');

  test('a vote for a view that they leave as it is counts', async () => {
    const id = await ask(service.agent, release('kept'));
    const { view_hash } = await readReview(id);
    await putPolicies(service.operator, moved);

    expectOk(await service.approver.post(`/v1/approvals/${id}/approve`, { view_hash }), {
      status: 'approved',
    });
    await putPolicies(service.operator, releaseAsk(''));
  });

  test('a vote for a view that they change does not, and the new view is shown from then on', async () => {
    const id = await ask(service.agent, release('changed', { token: TOKEN }));
    const { view_hash } = await readReview(id);
    const parameters_schema = structuredClone(RELEASE.parameters_schema);
    await putTool(service.operator, 'deploy', 'release', {
      ...RELEASE,
      parameters_schema,
      secret_parameters: ['token', 'service'],
    });

    const answer = await service.approver.post(`/v1/approvals/${id}/approve`, { view_hash });
    expectProblem(answer, 409, 'view_hash_mismatch');
    const shown = await readReview(id);
    expect(textOf(shown, '/parameters/service')).toMatch(/^\(secret /);
    expect(await readApproval(service.approver, id)).toMatchObject({ status: 'pending', votes: [] });
    const seen = await service.approver.post(`/v1/approvals/${id}/approve`, { view_hash: shown.view_hash });
    expectOk(seen, { status: 'approved' });
    await putTool(service.operator, 'deploy', 'release', RELEASE);
  });
});
