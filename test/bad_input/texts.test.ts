import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnyRoute } from '../../src/http/route.ts';
import { authorizeRoute } from '../../src/http/routes/authorize.ts';
import { outcomeRoute } from '../../src/http/routes/consume_approvals.ts';
import { approveRoute, cancelRoute, editRoute, rejectRoute } from '../../src/http/routes/decide_approvals.ts';
import { createKeyRoute, revokeKeyRoute } from '../../src/http/routes/keys.ts';
import { createTenantRoute } from '../../src/http/routes/tenants.ts';
import { refund, TRUSTED } from '../support/calls.ts';
import { expectAnswered, expectProblem, seen } from './refusal.ts';
import { BODY_ROUTES, callRoute, digestTables, pathOf, startWorld, validBody, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.service.close());

const NUL = '\0';
const UNSAFE = [NUL, `a${NUL}b`, '\u001b[2J', '\u0085', '\u2028', '\u202eabc', '\u2066x', '\u200f', '\u061c'];
const INVISIBLE = [
  'cr\u200bm',
  'crm\u200d',
  '\ufeffcrm',
  'cr\u00adm',
  'crm\ufe0f',
  '\u2800',
  '\u3164',
  'crm\ufffc',
];
const MALFORMED_ESCAPES = ['cr%6', '%', '%zz', '%c0%80', '%ed%a0%80', '%2563rm', '100%'];
const ESCAPED_UNSAFE = ['crm%00', '%e2%80%ae', 'cr%e2%80%8bm', '%0a', '%7f'];
const METACHARACTERS = [
  "' or '1'='1",
  "'; drop table approvals; --",
  '"; delete from votes; --',
  '$1',
  '$$; select pg_sleep(9); $$',
  "\\'; select 1",
  '%_',
  '{}',
  '{"a":1}',
  "E'\\x00'",
  '\\',
  '\\u0000',
  '#{7*7}',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  'null',
  '𝕒'.repeat(20),
];

describe('a text that a person is shown', () => {
  const fields: [what: string, route: AnyRoute, body: (text: string) => unknown][] = [
    ['approve reason', approveRoute, (reason) => ({ reason })],
    ['reject reason', rejectRoute, (reason) => ({ reason })],
    ['cancel reason', cancelRoute, (reason) => ({ reason })],
    ['edit reason', editRoute, (reason) => ({ tool_call: refund(6000), reason })],
    ['outcome detail', outcomeRoute, (detail) => ({ outcome: 'failed', detail })],
    ['outcome enforcement_id', outcomeRoute, (enforcement_id) => ({ outcome: 'failed', enforcement_id })],
    ...(['workspace', 'environment', 'session_id', 'run_id', 'parent_run_id', 'justification'] as const).map(
      (name): [string, AnyRoute, (text: string) => unknown] => [
        `context ${name}`,
        authorizeRoute,
        (text) => ({ tool_call: refund(100), context: { [name]: text } }),
      ],
    ),
    ...(['workspaces', 'environments'] as const).map(
      (name): [string, AnyRoute, (text: string) => unknown] => [
        `key ${name}`,
        createKeyRoute,
        (text) => ({ principal: 'agent-2', roles: ['agent'], [name]: [text] }),
      ],
    ),
    [
      'key workspace_root',
      createKeyRoute,
      (workspace_root) => ({ principal: 'agent-2', roles: ['agent'], workspace_root }),
    ],
  ];

  it.each(fields)('%s: control and bidi characters are refused', async (what, route, body) => {
    const before = await digestTables(world);
    for (const text of UNSAFE) {
      const answer = await callRoute(world, route, { body: body(text) });
      expect(expectProblem(seen(answer), `${what} ${JSON.stringify(text)}`)).toBe('invalid_request');
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('revoke reason: control and bidi characters are refused', async () => {
    const before = await digestTables(world);
    for (const text of [...UNSAFE, 'x'.repeat(257), '']) {
      const path = `${pathOf(revokeKeyRoute, world)}?reason=${encodeURIComponent(text)}`;
      expect(expectProblem(seen(await callRoute(world, revokeKeyRoute, { path })), text)).toBe(
        'invalid_request',
      );
    }
    expect(await digestTables(world)).toEqual(before);
  });
});

describe('an identifier', () => {
  it.each(['tool', 'action'] as const)(
    '%s: what looks like another or cannot be looked up is refused',
    async (name) => {
      const before = await digestTables(world);
      const refused = [
        ...UNSAFE,
        ...INVISIBLE,
        ...MALFORMED_ESCAPES,
        ...ESCAPED_UNSAFE,
        '',
        ' ',
        '%20',
        'x'.repeat(129),
        'x'.repeat(3000),
        '\u0378',
        '\ue000',
      ];
      for (const text of refused) {
        const answer = await callRoute(world, authorizeRoute, {
          body: { tool_call: { ...refund(100), [name]: text } },
        });
        expect(expectProblem(seen(answer), JSON.stringify(text)), JSON.stringify(text)).toBe(
          'invalid_request',
        );
        expect(answer.body.errors[0].pointer).toBe(`/tool_call/${name}`);
      }
      expect(await digestTables(world)).toEqual(before);
    },
  );

  it('percent-encoded, spaced or in capitals meets the same policy, and is hashed as sent', async () => {
    const hashes = new Set<string>();
    for (const tool of ['crm', '%63rm', 'C%52M', ' CRM ', '%43%52%4D']) {
      const answer = await callRoute(world, authorizeRoute, {
        body: {
          tool_call: {
            tool,
            action: 'delete_customer',
            mutates_state: true,
            parameters: { customer_id: 'c1' },
          },
          context: TRUSTED,
        },
      });
      expect(answer.body, tool).toMatchObject({
        decision: 'deny',
        determining_policies: ['crm-delete-forbidden'],
        resolved: { tool: 'crm' },
        tool_call: { tool },
      });
      hashes.add(answer.body.action_hash);
    }
    expect(hashes.size).toBe(5);
  });

  it('principals and tenants have their own narrow forms', async () => {
    const before = await digestTables(world);
    for (const text of [
      ...UNSAFE,
      ...INVISIBLE,
      ...METACHARACTERS.filter((one) => one !== 'null'),
      'a b',
      'é',
      'x'.repeat(129),
    ]) {
      const bodies: [AnyRoute, unknown][] = [
        [createKeyRoute, { principal: text, roles: ['agent'] }],
        [createKeyRoute, { principal: 'agent-2', roles: ['agent'], owner: text }],
        [createKeyRoute, { principal: 'agent-2', roles: ['agent'], groups: [text] }],
        [createTenantRoute, { tenant_id: text }],
      ];
      for (const [route, body] of bodies) {
        const code = expectProblem(seen(await callRoute(world, route, { body })), JSON.stringify(body));
        expect(code).toBe('invalid_request');
      }
    }
    expect(await digestTables(world)).toEqual(before);
  });
});

describe('metacharacters of SQL, JSON, shells and pages', () => {
  it('are plain text wherever a text may stand', async () => {
    for (const text of METACHARACTERS) {
      for (const route of BODY_ROUTES) {
        const body = replaceTexts(validBody(route), text);
        expectAnswered(seen(await callRoute(world, route, { body })), `${route.operationId} ${text}`);
      }
      const query = `/v1/approvals?tool=${encodeURIComponent(text)}`;
      expectAnswered(seen(await world.service.operator.get(query)), query);
    }
    expect(world.service.logged).toEqual([]);
  });

  it('come back exactly as sent', async () => {
    for (const text of METACHARACTERS) {
      const answer = await callRoute(world, authorizeRoute, {
        body: { tool_call: refund(9000, { memo: text }), context: { ...TRUSTED, justification: text } },
      });
      const id = answer.body.approval.approval_id;
      const rejected = await callRoute(world, rejectRoute, {
        path: `/v1/approvals/${id}/reject`,
        body: { reason: text },
      });
      expect(rejected.body).toMatchObject({
        tool_call: { parameters: { memo: text } },
        context: { justification: text },
        decision_reason: text,
      });
    }
  });
});

describe('parameters that a tool does not declare', () => {
  const call = (parameters: object, tool: { tool: string; action: string }) =>
    callRoute(world, authorizeRoute, {
      body: { tool_call: { ...tool, mutates_state: true, parameters }, context: TRUSTED },
    });
  const SHELL = { tool: 'shell', action: 'exec' };
  const STRIPE = { tool: 'stripe', action: 'refund' };

  it('are denied by their name, whatever is in the name', async () => {
    const names = [
      ...UNSAFE,
      ...INVISIBLE,
      ...METACHARACTERS,
      '',
      '/',
      '~',
      '`',
      'constructor',
      'toString',
      '😀'.repeat(300),
    ];
    for (const name of [...names, `x${'😀'.repeat(300)}`]) {
      const parameters = { amount: 100, currency: 'usd', [name]: 1 };
      const answer = await call(parameters, STRIPE);
      expect(answer.body, JSON.stringify(name)).toMatchObject({
        decision: 'deny',
        denial: { by: 'parameters' },
      });
      expect(answer.body.reason, JSON.stringify(name)).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    }
  });

  it('are denied where names are free and values are not', async () => {
    const names = [
      ...UNSAFE,
      ...METACHARACTERS,
      'constructor',
      ...[0, 1, 2, 3].map((at) => 'x'.repeat(at) + '😀'.repeat(300)),
    ];
    for (const name of names) {
      const answer = await call({ command: 'ls', env: { [name]: 1 } }, SHELL);
      expect(answer.body, JSON.stringify(name)).toMatchObject({
        decision: 'deny',
        denial: { by: 'parameters' },
      });
    }
    expect(world.service.logged).toEqual([]);
  });

  it('and texts with NUL and every other character are kept as they are', async () => {
    for (const text of [...UNSAFE, ...INVISIBLE, '\u0000'.repeat(1000), '\uffff', '\u{10ffff}']) {
      const answer = await call({ command: text, env: { [text]: text } }, SHELL);
      expect(answer.body.decision, JSON.stringify(text)).toBe('require_approval');
      expect(answer.body.tool_call.parameters).toEqual({ command: text, env: { [text]: text } });
    }
  });
});

/** A copy in which every text but those of fixed forms is another. */
function replaceTexts(value: unknown, text: string): unknown {
  if (typeof value === 'string') return text;
  if (Array.isArray(value)) return value.map((element) => replaceTexts(element, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isFixed(name) ? member : replaceTexts(member, text),
    ]),
  );
}

/** Members whose form is so narrow that another text would be refused before any other is looked at. */
function isFixed(name: string): boolean {
  return [
    'action_hash',
    'result_hash',
    'outcome',
    'effect',
    'source_trust',
    'tier',
    'roles',
    'expires_at',
    'principal',
  ].includes(name);
}
