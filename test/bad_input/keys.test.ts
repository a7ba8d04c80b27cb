import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, makeKey } from '../support/calls.ts';
import { expectAnswered, expectProblem, seen } from './refusal.ts';
import { digestTables, startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.service.close());

describe('a key', () => {
  it('is made only as the contract says', async () => {
    const before = await digestTables(world);
    const key = (members: object) =>
      world.service.operator.post('/v1/keys', { principal: 'agent-4', roles: ['agent'], ...members });
    const bad: object[] = [
      { roles: [] },
      { roles: ['admin'] },
      { roles: ['AGENT'] },
      { roles: ['platform'] },
      { roles: ['agent', 'operator'] },
      { roles: ['agent', 'platform'] },
      { roles: Array.from({ length: 51 }, () => 'agent') },
      { groups: Array.from({ length: 51 }, (_, at) => `g${at}`) },
      { groups: [''] },
      { groups: ['a b'] },
      { environments: [] },
      { workspaces: [] },
      { environments: [''] },
      { environments: Array.from({ length: 101 }, (_, at) => `e${at}`) },
      { expires_at: '2020-01-01T00:00:00Z' },
      { expires_at: '0000-01-01T00:00:00Z' },
      { expires_at: '2999-01-01T00:00:00' },
      { expires_at: '2999-01-01' },
      { expires_at: '2999-02-30T00:00:00Z' },
      { expires_at: '2999-01-01T24:00:00Z' },
      { expires_at: '2999-01-01T00:00:60Z' },
      { expires_at: '2999-01-01T00:00:00+99:00' },
      { expires_at: '+012999-01-01T00:00:00Z' },
      { expires_at: '9999-12-31T23:59:59-23:59' },
      { expires_at: 32503680000 },
      { expires_at: 'tomorrow' },
      { roles: ['approver'], owner: 'x' },
      { roles: ['approver'], unattended: false },
      { roles: ['approver'], environments: ['production'] },
    ];
    for (const members of bad) {
      const answer = await key(members);
      expect(expectProblem(seen(answer), JSON.stringify(members)), JSON.stringify(members)).toBe(
        'invalid_request',
      );
      expect(answer.body.errors.length).toBeGreaterThan(0);
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('whose principal is written in capitals is the same principal', async () => {
    const { operator, as } = world.service;
    const made = await makeKey(operator, { principal: 'Agent-1', roles: ['agent'] });
    const upper = as(made.token);
    expect((await upper.get('/v1/me')).body.principal).toBe('agent-1');
    const id = await ask(world.service.agent);
    expect((await upper.get(`/v1/approvals/${id}`)).status).toBe(200);
    const self = await makeKey(operator, { principal: 'AGENT-1', roles: ['approver'] });
    const refused = await as(self.token).post(`/v1/approvals/${id}/approve`);
    expect(expectProblem(seen(refused), 'own ask')).toBe('self_approval_forbidden');
  });

  it('may expire at every instant a caller can write', async () => {
    for (const expires_at of [
      '2999-01-01T00:00:00.123456789123456789Z',
      '2999-01-01T00:00Z',
      '2999-12-31T23:59:59+14:00',
      '9999-12-31T23:59:59.999Z',
    ]) {
      const answer = await world.service.operator.post('/v1/keys', {
        principal: 'agent-5',
        roles: ['agent'],
        expires_at,
      });
      expectAnswered(seen(answer), expires_at);
    }
  });
});
