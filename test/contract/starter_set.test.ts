import { afterAll, describe, expect, test } from 'vitest';
import { authorize, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import { expectOk, ROOMY, readApproval } from './support.ts';

const service = await startTestService({ env: ROOMY });
afterAll(() => service.close());

const ORIGINS_THAT_ASK = ['trusted_external', 'semi_trusted', 'unknown'] as const;
const OUTSIDE = 'outside-origin-asks-before-change';
const UNTRUSTED = 'untrusted-origin-changes-nothing';
const LARGE = 'stripe-refund-large-needs-approval';
const VERY_LARGE = 'stripe-refund-very-large-needs-two-approvals';

function call(tool: string, action: string, parameters: object, mutatesState = true) {
  return { tool, action, resource: null, mutates_state: mutatesState, parameters };
}
const readCustomer = (parameters: object = { customer_id: 'cus_1' }) =>
  call('crm', 'read_customer', parameters, false);
const deleteCustomer = (parameters: object = { customer_id: 'cus_1' }) =>
  call('crm', 'delete_customer', parameters);
const exec = (parameters: object = { command: 'ls -l' }) => call('shell', 'exec', parameters);

interface Row {
  name: string;
  toolCall: object;
  origin?: string;
  decision: 'allow' | 'deny' | 'require_approval';
  policies: string[];
}

const ROWS: Row[] = [
  ...['trusted_internal', ...ORIGINS_THAT_ASK, 'untrusted'].map(
    (origin): Row => ({
      name: `reading a customer from ${origin}`,
      toolCall: readCustomer(),
      origin,
      decision: 'allow',
      policies: ['crm-read-allowed'],
    }),
  ),
  ...[1, 4999, 5000].map(
    (amount): Row => ({
      name: `a refund of ${amount}`,
      toolCall: refund(amount),
      decision: 'allow',
      policies: ['stripe-refund-small-allowed'],
    }),
  ),
  ...['eur', 'gbp'].map(
    (currency): Row => ({
      name: `a refund in ${currency}, with memo and a fractional price`,
      toolCall: refund(100, { currency, memo: 'sorry', price: 12.5 }),
      decision: 'allow',
      policies: ['stripe-refund-small-allowed'],
    }),
  ),
  ...ORIGINS_THAT_ASK.map(
    (origin): Row => ({
      name: `a small refund from ${origin}`,
      toolCall: refund(5000),
      origin,
      decision: 'require_approval',
      policies: [OUTSIDE],
    }),
  ),
  {
    name: 'a small refund from untrusted',
    toolCall: refund(1),
    origin: 'untrusted',
    decision: 'deny',
    policies: [UNTRUSTED],
  },
  ...[5001, 100_000].map(
    (amount): Row => ({
      name: `a refund of ${amount}`,
      toolCall: refund(amount),
      decision: 'require_approval',
      policies: [LARGE],
    }),
  ),
  {
    name: 'a large refund from unknown origin: both asks, sorted',
    toolCall: refund(5001),
    origin: 'unknown',
    decision: 'require_approval',
    policies: [OUTSIDE, LARGE],
  },
  {
    name: 'a refund of 100001',
    toolCall: refund(100_001),
    decision: 'require_approval',
    policies: [LARGE, VERY_LARGE],
  },
  {
    name: 'deleting a customer',
    toolCall: deleteCustomer(),
    decision: 'deny',
    policies: ['crm-delete-forbidden'],
  },
  {
    name: 'deleting a customer from untrusted origin: both forbids, sorted',
    toolCall: deleteCustomer(),
    origin: 'untrusted',
    decision: 'deny',
    policies: ['crm-delete-forbidden', UNTRUSTED],
  },
  {
    name: 'a command',
    toolCall: exec(),
    decision: 'require_approval',
    policies: ['shell-exec-needs-approval', 'tier-auto-asks'],
  },
  {
    name: 'a command with every parameter, its argv quoted in `command`',
    toolCall: exec({
      command: "grep 'a b' notes.txt",
      argv: ['grep', 'a b', 'notes.txt'],
      cwd: '/srv/app',
      env: { LANG: 'C' },
      resolved_paths: ['/srv/app/notes.txt'],
      file_digests: { '/srv/app/notes.txt': 'a'.repeat(64) },
    }),
    decision: 'require_approval',
    policies: ['shell-exec-needs-approval', 'tier-auto-asks'],
  },
  {
    name: 'writing a file',
    toolCall: call('files', 'write', { path: 'notes.txt', content: 'hello' }),
    decision: 'require_approval',
    policies: ['files-write-needs-approval'],
  },
  { name: 'a tool not registered', toolCall: call('nuke', 'launch', {}), decision: 'deny', policies: [] },
  {
    name: 'an action not registered',
    toolCall: call('stripe', 'payout', { amount: 1 }, false),
    decision: 'deny',
    policies: [],
  },
];

describe('the starter set decides as the contract’s table says', () => {
  test.each(ROWS)('$name: $decision', async ({ toolCall, origin, decision, policies }) => {
    const answer = await authorize(
      service.agent,
      toolCall,
      origin === undefined ? {} : { context: { source_trust: origin } },
    );
    expectOk(answer, { decision, denial: null });
    expect(answer.body.determining_policies).toEqual(policies);
    expect(answer.body.approval === null).toBe(decision !== 'require_approval');
  });
});

describe('undeclared and ill-typed parameters are denied by `parameters`, with the reason', () => {
  const PROBLEMS: [string, object, RegExp][] = [
    ['an undeclared parameter', refund(1, { to: 'me' }), /to/],
    ['no amount', call('stripe', 'refund', { currency: 'usd' }), /amount/],
    ['no currency', call('stripe', 'refund', { amount: 1 }), /currency/],
    ['an amount of 0', refund(0), /amount/],
    ['a negative amount', refund(-9000), /amount/],
    ['a fractional amount', refund(1.5), /amount/],
    ['an amount in text', refund(1, { amount: '1' }), /amount/],
    ['an amount of null', refund(1, { amount: null }), /amount/],
    ['another currency', refund(1, { currency: 'jpy' }), /currency/],
    ['a currency in capitals', refund(1, { currency: 'USD' }), /currency/],
    ['a memo that is a number', refund(1, { memo: 7 }), /memo/],
    ['a price in text', refund(1, { price: '7' }), /price/],
    ['a customer that is a number', readCustomer({ customer_id: 1 }), /customer_id/],
    ['a customer with more', readCustomer({ customer_id: 'c', all: true }), /all/],
    ['no customer', deleteCustomer({}), /customer_id/],
    ['a file without content', call('files', 'write', { path: 'a' }), /content/],
    ['a file with a mode', call('files', 'write', { path: 'a', content: '', mode: 7 }), /mode/],
    ['no command', exec({ argv: ['ls'] }), /command/],
    ['an argv of numbers', exec({ command: '1', argv: [1] }), /argv/],
    ['an env of numbers', exec({ command: 'ls', env: { A: 1 } }), /env/],
    ['a digest that is none', exec({ command: 'ls', file_digests: { a: 'b' } }), /file_digests/],
    [
      'a command that is not the quoted form of its argv',
      exec({ command: 'ls', argv: ['rm', '-rf', '/'] }),
      /argv/,
    ],
    [
      'a command whose argv is quoted otherwise',
      exec({ command: 'echo a b', argv: ['echo', 'a b'] }),
      /argv/,
    ],
  ];

  test.each(PROBLEMS)('%s', async (_name, toolCall, names) => {
    const answer = await authorize(service.agent, toolCall);
    expectOk(answer, {
      decision: 'deny',
      determining_policies: [],
      approval: null,
      denial: {
        by: 'parameters',
        reason: expect.stringMatching(names),
        instruction: expect.stringMatching(/not/),
      },
    });
  });
});

test('the server’s facts win over what the call says of itself', async () => {
  const readAsWrite = { ...readCustomer(), mutates_state: true };
  const refundAsRead = { ...refund(100), mutates_state: false };
  expectOk(await authorize(service.agent, readAsWrite, { context: { source_trust: 'untrusted' } }), {
    decision: 'allow',
    tool_call: { mutates_state: true },
  });
  expectOk(await authorize(service.agent, refundAsRead, { context: { source_trust: 'untrusted' } }), {
    decision: 'deny',
    tool_call: { mutates_state: false },
  });
});

test('a default deny says what to add, and a tool not registered where to register it', async () => {
  const unregistered = await authorize(service.agent, call('nuke', 'launch', {}));
  expect(unregistered.body.reason).toMatch(/`nuke`.*not registered/);
  expect(unregistered.body.reason).toMatch(/policies\/tools/);
});

test.each([
  [5001, { votes: 1, groups: [], signature: 'none' }],
  [100_000, { votes: 1, groups: [], signature: 'none' }],
  [100_001, { votes: 2, groups: ['finance', 'security'], signature: 'none' }],
])('a refund of %i needs the votes of the table', async (amount, requirements) => {
  const { body } = await authorize(service.agent, refund(amount));
  expect((await readApproval(service.approver, body.approval.approval_id)).requirements).toEqual(
    requirements,
  );
});

test('an ask’s reason is the policies’ own words in order of their ids', async () => {
  const { body } = await authorize(service.agent, refund(100_001));
  expect(body.reason).toBe(
    'a refund of more than 5000 cents needs an approval; ' +
      'a refund of more than 100000 cents needs one approval by finance and one by security',
  );
});
