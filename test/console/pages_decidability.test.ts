import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api_client.ts';
import { ask, makeKey, refund } from '../support/calls.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { buttonOf, has } from './page_html.ts';
import { type Browser, signIn } from './support.ts';

// What a page offers is judged by one part, and what is done by another: whoever may do what, they agree.

interface Person {
  api: ApiClient;
  browser: Browser;
}

const KEYS = {
  'of the first group': { roles: ['approver'], groups: ['finance'] },
  'of the second group': { roles: ['approver'], groups: ['security'] },
  'of both groups': { roles: ['approver'], groups: ['finance', 'security'] },
  'of no group': { roles: ['approver'], groups: [] },
  'who has voted': { roles: ['approver'], groups: ['finance'] },
  'who has edited': { roles: ['approver'], groups: ['finance', 'security'] },
  'who owns the agent': { roles: ['approver'], groups: ['finance', 'security'] },
  'who operates and approves': { roles: ['operator', 'approver'], groups: ['security'] },
  'who operates': { roles: ['operator'], groups: [] },
  'who audits': { roles: ['auditor'], groups: [] },
} as const;

type Who = keyof typeof KEYS;

const WHO = Object.keys(KEYS) as Who[];
const CALLS = ['approve', 'reject', 'edit', 'cancel'] as const;
type Call = (typeof CALLS)[number];

let service: TestService;
const people = new Map<Who, Person>();

function personOf(who: Who): Person {
  const person = people.get(who);
  if (person === undefined) throw new Error(`nobody ${who}`);
  return person;
}

beforeAll(async () => {
  service = await startTestService({
    env: {
      AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '1000',
      AEGIS_PENDING_LIMIT: '2000',
      AEGIS_ASK_LIMIT_PER_HOUR: '5000',
    },
  });
  for (const [index, who] of WHO.entries()) {
    const { token } = await makeKey(service.operator, { principal: `person-${index}`, ...KEYS[who] });
    people.set(who, { api: service.as(token), browser: await signIn(service, token) });
  }
});
afterAll(() => service.close());

const OWNER = `person-${WHO.indexOf('who owns the agent')}`;

async function must(answer: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await answer;
  expect(status, text).toBe(200);
}

const voted = (id: string) => must(personOf('who has voted').api.post(`/v1/approvals/${id}/approve`));
const completed = (id: string) => must(personOf('of both groups').api.post(`/v1/approvals/${id}/approve`));

async function edited(id: string, amount: number): Promise<void> {
  const { api } = personOf('who has edited');
  const { tool_call: call } = (await api.get(`/v1/approvals/${id}`)).body;
  const parameters = { ...call.parameters, amount };
  await must(api.post(`/v1/approvals/${id}/edit`, { tool_call: { ...call, parameters } }));
}

async function over(id: string): Promise<void> {
  await service.sql`update approvals set created_at = now() - interval '2 hours', expires_at = now() - interval '1 hour'
    where approval_id = ${id.slice(4)}::uuid`;
}

/** How an approval came to stand as it does: what it was asked for, and what happened to it then. */
const STATES: Record<string, { amount: number; happened: (id: string, agent: ApiClient) => Promise<void> }> =
  {
    'waits for one vote': { amount: 9000, happened: async () => {} },
    'waits for two groups': { amount: 200_000, happened: async () => {} },
    'waits for the second group': { amount: 200_000, happened: voted },
    'was edited': { amount: 9000, happened: (id) => edited(id, 8000) },
    'was voted for and edited': {
      amount: 200_000,
      happened: async (id) => {
        await voted(id);
        await edited(id, 150_000);
      },
    },
    'is approved': { amount: 9000, happened: completed },
    'is rejected': {
      amount: 9000,
      happened: (id) => must(personOf('of no group').api.post(`/v1/approvals/${id}/reject`)),
    },
    'is taken back': {
      amount: 9000,
      happened: (id, agent) => must(agent.post(`/v1/approvals/${id}/cancel`)),
    },
    'is used': {
      amount: 9000,
      happened: async (id, agent) => {
        await completed(id);
        const { action_hash } = (await agent.get(`/v1/approvals/${id}`)).body;
        await must(agent.post(`/v1/approvals/${id}/consume`, { action_hash }));
      },
    },
    'has expired': { amount: 9000, happened: over },
  };

/** What the page offers to do; a form that is not there is no offer. */
function offers(html: string, call: Call): boolean {
  return has(html, `${call}-button`) && !buttonOf(html, `${call}-button`).isDisabled;
}

/** Does it by the API, as somebody who has read the approval; whether that changed anything. */
async function changes(id: string, call: Call, { api }: Person): Promise<boolean> {
  const { tool_call: asked, review, version, votes } = (await api.get(`/v1/approvals/${id}`)).body;
  const parameters = { ...asked.parameters, amount: asked.parameters.amount - 1 };
  const shown = call === 'edit' ? { tool_call: { ...asked, parameters } } : { view_hash: review.view_hash };
  const answer = await api.post(`/v1/approvals/${id}/${call}`, call === 'cancel' ? {} : shown);
  if (answer.status !== 200) return false;
  // A second vote of the same person is answered with how it stands.
  return call !== 'approve' || answer.body.votes.length > votes.length || answer.body.version > version;
}

/** For all but approving it is the role and the state that differ. */
const FEW: readonly Who[] = ['of both groups', 'who has edited', 'who operates', 'who audits'];
const OPEN = /^(?:waits|was)/;
const outcomes = new Set<string>();

describe.each(Object.entries(STATES))('an approval that %s', (state, { amount, happened }) => {
  const asking = CALLS.map((call, index) => ({
    call,
    principal: `agent-${state.replaceAll(' ', '-')}-${index}`,
  }));

  test.each(asking)(
    'offers to $call to those alone who may',
    { timeout: 120_000 },
    async ({ call, principal }) => {
      const { token } = await makeKey(service.operator, { principal, roles: ['agent'], owner: OWNER });
      const agent = service.as(token);
      const offered: Record<string, boolean> = {};
      const done: Record<string, boolean> = {};
      for (const who of call === 'approve' && OPEN.test(state) ? WHO : FEW) {
        const id = await ask(agent, refund(amount), { session_id: who });
        await happened(id, agent);
        const person = personOf(who);
        const page = await person.browser.get(`/console/approvals/${id}`);
        expect(page.status, page.html).toBe(200);
        offered[who] = offers(page.html, call);
        done[who] = await changes(id, call, person);
        outcomes.add(`${call} ${done[who]}`);
      }
      expect(offered).toStrictEqual(done);
    },
  );
});

test('somebody may, and somebody may not, in what was compared', () => {
  expect(outcomes).toStrictEqual(new Set(CALLS.flatMap((call) => [`${call} true`, `${call} false`])));
});
