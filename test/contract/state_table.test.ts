import { afterAll, describe, expect, test } from 'vitest';
import type { ApiAnswer, ApiClient } from '../support/api_client.ts';
import { ask, askApproved, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import {
  editedCall,
  expectOk,
  expectProblem,
  expire,
  newActor,
  newAgent,
  ROOMY,
  readApproval,
  uuidOf,
} from './support.ts';

const service = await startTestService({ env: ROOMY });
afterAll(() => service.close());

/** An approval in some state, and a standing key of the agent that asked. */
interface Case {
  id: string;
  agent: ApiClient;
}

const ofAgent = (id: string): Case => ({ id, agent: service.agent });

async function voidByRevocation(approved: boolean): Promise<Case> {
  const agent = await newAgent(service);
  const id = await ask(agent.client);
  if (approved) await service.approver.post(`/v1/approvals/${id}/approve`);
  expect((await service.operator.delete(`/v1/keys/${agent.keyId}`)).status).toBe(204);
  const again = await service.operator.post('/v1/keys', { principal: agent.principal, roles: ['agent'] });
  return { id, agent: service.as(again.body.key) };
}

/** How an approval gets into each state, by calls; only time is helped along. */
const STATES: Record<string, () => Promise<Case>> = {
  pending: async () => ofAgent(await ask(service.agent)),
  approved: async () => ofAgent(await askApproved(service.agent, service.approver)),
  rejected: async () => {
    const id = await ask(service.agent);
    expectOk(await service.approver.post(`/v1/approvals/${id}/reject`, { reason: 'no' }), {
      status: 'rejected',
    });
    return ofAgent(id);
  },
  'cancelled while pending': async () => {
    const id = await ask(service.agent);
    expectOk(await service.agent.post(`/v1/approvals/${id}/cancel`), { status: 'cancelled' });
    return ofAgent(id);
  },
  'cancelled when approved': async () => {
    const id = await askApproved(service.agent, service.approver);
    expectOk(await service.agent.post(`/v1/approvals/${id}/cancel`), { status: 'cancelled' });
    return ofAgent(id);
  },
  'expired while pending': async () => {
    const id = await ask(service.agent);
    await expire(service, id);
    return ofAgent(id);
  },
  'expired when approved': async () => {
    const id = await askApproved(service.agent, service.approver);
    await expire(service, id);
    return ofAgent(id);
  },
  'voided while pending': () => voidByRevocation(false),
  'voided when approved': () => voidByRevocation(true),
  consumed: async () => {
    const id = await askApproved(service.agent, service.approver);
    expectOk(await service.agent.post(`/v1/approvals/${id}/consume`), { status: 'consumed' });
    return ofAgent(id);
  },
  'consumed and reported': async () => {
    const id = await askApproved(service.agent, service.approver);
    expectOk(await service.agent.post(`/v1/approvals/${id}/consume`));
    expectOk(await service.agent.post(`/v1/approvals/${id}/outcome`, { outcome: 'executed' }));
    return ofAgent(id);
  },
};

const CALLS: Record<string, (of: Case) => Promise<ApiAnswer>> = {
  approve: ({ id }) => service.approver.post(`/v1/approvals/${id}/approve`),
  reject: ({ id }) => service.approver.post(`/v1/approvals/${id}/reject`),
  edit: async ({ id }) =>
    service.approver.post(`/v1/approvals/${id}/edit`, {
      tool_call: await editedCall(service.approver, id, { amount: 8000 }),
    }),
  consume: ({ id, agent }) => agent.post(`/v1/approvals/${id}/consume`),
  cancel: ({ id, agent }) => agent.post(`/v1/approvals/${id}/cancel`),
  'cancel by an operator': ({ id }) => service.operator.post(`/v1/approvals/${id}/cancel`),
  outcome: ({ id, agent }) => agent.post(`/v1/approvals/${id}/outcome`, { outcome: 'failed' }),
};

const DECIDES = ['approve', 'reject', 'edit'];
const CANCELS = ['cancel', 'cancel by an operator'];
const CONFLICTS: Record<string, number> = { approval_expired: 410 };

/** The contract's table: the code for approve, reject and edit, for consume, for cancel, for outcome; or ok. */
const TABLE: Record<string, [decide: string, consume: string, cancel: string, outcome: string]> = {
  pending: ['ok', 'approval_not_approved', 'ok', 'approval_not_consumed'],
  approved: ['approval_already_decided', 'ok', 'ok', 'approval_not_consumed'],
  rejected: [
    'approval_already_decided',
    'approval_not_approved',
    'approval_already_decided',
    'approval_not_consumed',
  ],
  cancelled: [
    'approval_already_decided',
    'approval_not_approved',
    'approval_already_decided',
    'approval_not_consumed',
  ],
  expired: ['approval_expired', 'approval_expired', 'approval_expired', 'approval_not_consumed'],
  voided: ['approval_voided', 'approval_voided', 'approval_voided', 'approval_not_consumed'],
  consumed: ['approval_already_consumed', 'approval_already_consumed', 'approval_already_consumed', 'ok'],
};

function expectedOf(state: string, call: string): string {
  const [decide, consume, cancel, outcome] = TABLE[state.split(' ', 1).join('')] ?? [];
  if (state === 'consumed and reported' && call === 'outcome') return 'outcome_already_reported';
  if (DECIDES.includes(call)) return decide ?? '';
  if (CANCELS.includes(call)) return cancel ?? '';
  return (call === 'consume' ? consume : outcome) ?? '';
}

describe.each(Object.keys(STATES))('%s', (state) => {
  const status = state.split(' ', 1).join('');

  test.each(Object.keys(CALLS))('%s', async (call) => {
    const of = (await STATES[state]?.()) as Case;
    const before = await readApproval(service.approver, of.id);
    expect(before.status).toBe(status);
    const answer = (await CALLS[call]?.(of)) as ApiAnswer;
    const expected = expectedOf(state, call);
    if (expected === 'ok') {
      expectOk(answer);
      return;
    }
    const voidReason = status === 'voided' ? { void_reason: 'key_revoked' } : {};
    expectProblem(answer, CONFLICTS[expected] ?? 409, expected, { approval_status: status, ...voidReason });
    expect(answer.body).toHaveProperty('detail');
    expect('void_reason' in answer.body).toBe(status === 'voided');
    expect(await readApproval(service.approver, of.id)).toEqual(before);
  });
});

describe('members of each state', () => {
  test('approved: who, when and why; nothing of the rest', async () => {
    const id = await ask(service.agent);
    const answer = await service.approver.post(`/v1/approvals/${id}/approve`, { reason: 'looks right' });
    expectOk(answer, {
      status: 'approved',
      version: 1,
      decided_by: 'approver-1',
      decision_reason: 'looks right',
      decided_at: expect.stringMatching(/Z$/),
      void_reason: null,
      consumed_at: null,
      outcome: null,
      votes: [
        {
          approver: 'approver-1',
          decision: 'approve',
          scope: 'once',
          reason: 'looks right',
          at: expect.any(String),
        },
      ],
    });
    expect(answer.headers.get('etag')).toBe('"1"');
  });

  test('rejected: with the vote', async () => {
    const id = await ask(service.agent);
    expectOk(await service.approver2.post(`/v1/approvals/${id}/reject`, { reason: 'never' }), {
      status: 'rejected',
      decided_by: 'approver-2',
      decision_reason: 'never',
      votes: [{ approver: 'approver-2', decision: 'reject', reason: 'never' }],
    });
  });

  test('cancelled: by whom, and the votes it had', async () => {
    const id = await askApproved(service.agent, service.approver);
    expectOk(await service.agent.post(`/v1/approvals/${id}/cancel`, { reason: 'not needed' }), {
      status: 'cancelled',
      decided_by: 'agent-1',
      decision_reason: 'not needed',
      votes: [{ approver: 'approver-1' }],
    });
  });

  test('voided: why', async () => {
    const { id } = await voidByRevocation(true);
    expect(await readApproval(service.approver, id)).toMatchObject({
      status: 'voided',
      void_reason: 'key_revoked',
    });
  });

  test('pending: exactly the members of the contract, and no more than `edits` and `review` beside', async () => {
    const toolCall = refund(9000);
    const id = await ask(service.agent, toolCall);
    const approval = await readApproval(service.agent, id);
    expect(approval).toEqual({
      approval_id: id,
      version: 1,
      status: 'pending',
      agent: 'agent-1',
      owner: null,
      context: expect.objectContaining({ source_trust: 'trusted_internal' }),
      original_tool_call: toolCall,
      original_action_hash: approval.action_hash,
      tool_call: toolCall,
      action_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      canonical_action: expect.stringMatching(/^\{"action":"refund",/),
      masked: [],
      resolved: { tool: 'stripe', action: 'refund' },
      edited: false,
      edits: [],
      reason: 'a refund of more than 5000 cents needs an approval',
      determining_policies: ['stripe-refund-large-needs-approval'],
      policy_revision: expect.stringMatching(/^[0-9a-f]{64}$/),
      requirements: { votes: 1, groups: [], signature: 'none' },
      scopes: ['once'],
      votes: [],
      recent: [],
      review: expect.objectContaining({
        view_version: 1,
        view_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      }),
      decided_by: null,
      decision_reason: null,
      void_reason: null,
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      expires_at: expect.stringMatching(/\.\d{3}Z$/),
      decided_at: null,
      consumed_at: null,
      outcome: null,
    });
  });
});

test('what is decided or consumed does not expire', async () => {
  const rejected = (await STATES.rejected?.()) as Case;
  const consumed = (await STATES.consumed?.()) as Case;
  for (const { id } of [rejected, consumed]) {
    await service.sql`update approvals set created_at = created_at - interval '1 day',
      decided_at = decided_at - interval '1 day', consumed_at = consumed_at - interval '1 day',
      expires_at = clock_timestamp() - interval '1 second' where approval_id = ${uuidOf(id)}`;
  }
  expect((await readApproval(service.approver, rejected.id)).status).toBe('rejected');
  expect((await readApproval(service.approver, consumed.id)).status).toBe('consumed');
  expectOk(await service.agent.post(`/v1/approvals/${consumed.id}/outcome`, { outcome: 'unknown' }));
});

test('an expired row reads as expired at once, without a sweeper', async () => {
  const quick = await startTestService({ env: { AEGIS_APPROVAL_TTL_SECS: '1' } });
  try {
    const id = await ask(quick.agent);
    const { expires_at: expiresAt } = await readApproval(quick.approver, id);
    const ended = await quick.approver.get(`/v1/approvals/${id}?wait=5`);
    expectOk(ended, { status: 'expired', version: 1, decided_at: null });
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt));
    const [row] = await quick.sql`select status from approvals where approval_id = ${uuidOf(id)}`;
    expect(row?.status).toBe('pending');
    expectProblem(await quick.approver.post(`/v1/approvals/${id}/approve`), 410, 'approval_expired', {
      approval_status: 'expired',
    });
  } finally {
    await quick.close();
  }
});

test('an auditor reads every approval and moves none', async () => {
  const auditor = await newActor(service, ['auditor']);
  const id = await ask(service.agent);
  expect(await readApproval(auditor.client, id)).toMatchObject({ status: 'pending' });
  for (const call of ['approve', 'reject', 'cancel', 'consume']) {
    expectProblem(await auditor.client.post(`/v1/approvals/${id}/${call}`), 403, 'forbidden');
  }
});
