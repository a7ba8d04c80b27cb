import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { PolicySetError } from '../../src/policy/policy_set_error.ts';
import { buildPolicySet, loadPolicySet } from './policy_sets.ts';
import { registration } from './support.ts';

const PERMIT = 'permit (principal is Aegis::Agent, action in Aegis::Action::"invoke", resource)';
const FORBID = 'forbid (principal is Aegis::Agent, action in Aegis::Action::"invoke", resource)';
const folders: string[] = [];

afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
});

describe('a set is refused, with file, line, policy and remedy, for', () => {
  const bad: [string, string, RegExp][] = [
    ['a missing id', `${PERMIT};`, /^a\.cedar:2:1: policy has no `@id`\. Begin it with @id/],
    ['an id without a value', `@id ${PERMIT};`, /a\.cedar:2:1: policy has no `@id`/],
    [
      'an id that is not kebab-case',
      `@id("Not_Kebab") ${PERMIT};`,
      /a\.cedar:2:\d+: policy `Not_Kebab`: .*kebab-case\. Use/,
    ],
    [
      'a repeated id',
      `@id("p") ${PERMIT};\n@id("p") ${FORBID};`,
      /a\.cedar:3:\d+: policy `p`: its `@id` is taken\. Rename one/,
    ],
    ['two ids on one policy', `@id("p") @id("q") ${PERMIT};`, /duplicate annotation/],
    [
      'an unknown annotation',
      `@id("p") @vote("2") ${PERMIT};`,
      /a\.cedar:2:\d+: policy `p`: unknown annotation `@vote`\. Did you mean @votes\? Known are @id/,
    ],
    [
      'another decision',
      `@id("p") @decision("ask") ${PERMIT};`,
      /`@decision` has a value .*require_approval/,
    ],
    [
      'a forbid that asks',
      `@id("p") @decision("require_approval") ${FORBID};`,
      /stands on a forbid, which cannot ask/,
    ],
    [
      'zero votes',
      ask('@votes("0")'),
      /`@votes` has a value that is not allowed\. Write a whole number from 1 to 10/,
    ],
    ['eleven votes', ask('@votes("11")'), /`@votes`/],
    ['votes that are no number', ask('@votes("two")'), /`@votes`/],
    ['an empty group', ask('@groups("finance,")'), /`@groups`/],
    ['no group', ask('@groups("")'), /`@groups`/],
    ['a group that no key could be in', ask(`@groups("${'a'.repeat(65)}")`), /`@groups`/],
    ['a repeated group', ask('@groups("finance,finance")'), /`@groups`/],
    ['no time to live', ask('@ttl_seconds("0")'), /`@ttl_seconds`.*above zero/],
    ['a negative time to live', ask('@ttl_seconds("-5")'), /`@ttl_seconds`/],
    ['an unknown scope', ask('@max_scope("always")'), /`@max_scope`.*once, run, session or window/],
    ['an unknown signature', ask('@signature("pgp")'), /`@signature`.*webauthn/],
    ['an unknown self-approval', ask('@self_approval("friend")'), /`@self_approval`.*owner, editor or any/],
    ['an empty reason', ask('@reason(" ")'), /`@reason`/],
    ['a reason with an escaped bidi character', ask('@reason("a\\u{202e}b")'), /`@reason`/],
    [
      'votes on a policy that does not ask',
      `@id("p") @votes("2") ${PERMIT};`,
      /does not ask\. Add @decision/,
    ],
    ['a code on a permit', `@id("p") @code("approver_not_eligible") ${PERMIT};`, /stands on a permit/],
    ['an unknown code', `@id("p") @code("nope") ${FORBID};`, /`@code`/],
    ['an unknown denial', `@id("p") @denied_by("me") ${FORBID};`, /`@denied_by`/],
    [
      'a template',
      '@id("p") permit (principal == ?principal, action, resource);',
      /a\.cedar:2:1: templates are not supported/,
    ],
    [
      'a bidi character in a comment',
      `// \u202e\n@id("p") ${PERMIT};`,
      /a\.cedar:2:4: the text has a control, bidi/,
    ],
    ['a control character', `@id("p") ${PERMIT}; // \u0007`, /control, bidi or invisible/],
    ['a syntax error', `@id("p") ${PERMIT} when { 1 + };`, /^a\.cedar:2:\d+: unexpected token/],
    [
      'an attribute that does not exist',
      `@id("p") ${PERMIT} when { context.sauce == "x" };`,
      /a\.cedar:2:\d+: policy `p`: .*`sauce`/,
    ],
    [
      'a misspelt trust',
      `@id("p") ${PERMIT} when { context.source_trust == Aegis::Trust::"trustd" };`,
      /policy `p`: .*trustd/,
    ],
    [
      'an attribute that does not exist, tested behind a negation',
      `@id("p") ${PERMIT} when { !(context has enviroment) || context.unattended };`,
      /a\.cedar:2:\d+: policy `p`: no action of its scope has `context\.enviroment`\. Did you mean `environment`\?/,
    ],
    [
      'an attribute that does not exist, tested behind an alternative',
      `@id("p") ${PERMIT} when { context.unattended || context has sauce };`,
      /a\.cedar:2:\d+: policy `p`: no action of its scope has `context\.sauce`\. Remove it/,
    ],
    [
      'an attribute that does not exist, in its `unless`',
      `@id("p") ${FORBID} unless { context has enviroment && context.enviroment == "x" };`,
      /`context\.enviroment`/,
    ],
    [
      'a fact of the tool that does not exist',
      `@id("p") ${PERMIT} when { !(context.tool has destructiv) };`,
      /`context\.tool\.destructiv`\. Did you mean `destructive`\?/,
    ],
    [
      'a fact of the tool that does not exist, tested as a path',
      `@id("p") ${PERMIT} when { !(context has tool.destructiv) };`,
      /`context\.tool\.destructiv`/,
    ],
    [
      'a parameter that nobody registered',
      `@id("p") ${PERMIT} when { !(context.parameters has amuont) };`,
      /`context\.parameters\.amuont`\. Remove it, or register the tool that has it/,
    ],
    [
      'an attribute of what has none',
      `@id("p") ${PERMIT} when { !(context.source_trust has level) };`,
      /`context\.source_trust\.level`/,
    ],
    [
      'an attribute of calls, on an action of approvers',
      '@id("p") permit (principal, action == Aegis::Action::"approve", resource) when { !(context has unattended) };',
      /`context\.unattended`/,
    ],
    [
      'an attribute of the principal that does not exist, behind a negation',
      `@id("p") ${PERMIT} when { !(principal has ownr) };`,
      /a\.cedar:2:\d+: policy `p`: no action of its scope has `principal\.ownr`\. Did you mean `owner`\?/,
    ],
    [
      'an attribute of the principal that does not exist, behind an alternative',
      `@id("p") ${PERMIT} when { context.unattended || principal has tier };`,
      /`principal\.tier`/,
    ],
    [
      'an attribute of what the principal refers to',
      `@id("p") ${PERMIT} when { principal has owner && !(principal.owner has rolls) };`,
      /`principal\.owner\.rolls`\. Did you mean `roles`\?/,
    ],
    [
      'an attribute of the resource that does not exist',
      `@id("p") ${PERMIT} when { !(resource has pat) };`,
      /`resource\.pat`\. Did you mean `path`\?/,
    ],
    [
      'an attribute of an agent, asked of approvers',
      '@id("p") permit (principal is Aegis::Approver, action == Aegis::Action::"reject", resource) when { !(principal has risk_tier) };',
      /`principal\.risk_tier`/,
    ],
    [
      'an attribute that only sessions have, asked of agents',
      '@id("p") permit (principal, action == Aegis::Action::"resume", resource is Aegis::Agent) when { !(resource has agent) };',
      /`resource\.agent`/,
    ],
    [
      'what only the second word on an ask knows, read on calls',
      `@id("p") ${PERMIT} when { context.routable };`,
      /`context\.routable`\. Only Aegis::Action::"ask" has it, the second word on an ask: put a forbid/,
    ],
    [
      'what only the second word on an ask knows, tested on calls',
      `@id("p") ${FORBID} when { context has denied_before && context.denied_before };`,
      /`context\.denied_before`\. Only Aegis::Action::"ask" has it/,
    ],
    [
      'a misspelt tier',
      `@id("p") ${PERMIT} when { context.tier == Aegis::Tier::"auot" };`,
      /policy `p`: .*auot/,
    ],
    [
      'an agent in capitals, which no call has',
      '@id("p") forbid (principal == Aegis::Agent::"Bot-1", action, resource);',
      /no call has `Aegis::Agent::"Bot-1"`\. Names are compared in lower case: write "bot-1"/,
    ],
    [
      'an approver in capitals, in a condition',
      '@id("p") forbid (principal, action == Aegis::Action::"approve", resource) when { principal == Aegis::Approver::"Ann" };',
      /write "ann"/,
    ],
    [
      'a tool in capitals',
      `@id("p") ${FORBID} when { resource in Aegis::Tool::"Stripe" };`,
      /write "stripe"/,
    ],
    [
      'an action that nobody registered',
      '@id("p") permit (principal, action == Aegis::Action::"crm.drop", resource);',
      /crm\.drop/,
    ],
    [
      'a policy that can never apply',
      `@id("p") ${PERMIT} when { context.unattended && principal is Aegis::Approver };`,
      /impossible/,
    ],
  ];

  test.each(bad)('%s', async (_, text, expected) => {
    // The first line is a comment, so that a line counted from anywhere else shows.
    const folder = await folderWith({ 'a.cedar': `// first\n${text}\n` });

    await expect(loadPolicySet(folder)).rejects.toThrow(PolicySetError);
    await expect(loadPolicySet(folder)).rejects.toThrow(expected);
  });

  test('every problem at once, each in its own file', async () => {
    const folder = await folderWith({ 'a.cedar': `${PERMIT};`, 'b.cedar': `@id("p") ${PERMIT}` });

    await expect(loadPolicySet(folder)).rejects.toThrow(/a\.cedar:1[^\n]*\nb\.cedar:1/);
  });

  const DIFFERENT_BYTES: [string, Uint8Array, RegExp][] = [
    [
      'bytes that are no UTF-8',
      Uint8Array.of(0x2f, 0x2f, 0xff, 0x0a),
      /^a\.cedar: the file is not UTF-8\. Save it as UTF-8/,
    ],
    ['a byte order mark', Uint8Array.of(0xef, 0xbb, 0xbf), /^a\.cedar:1:1: the text has a control, bidi/],
  ];
  test.each(DIFFERENT_BYTES)('%s, where a person would see another text', async (_, bytes, expected) => {
    const folder = await folderWith({
      'a.cedar': Buffer.concat([bytes, Buffer.from(`// first\n@id("p") ${PERMIT};`)]),
    });

    await expect(loadPolicySet(folder)).rejects.toThrow(PolicySetError);
    await expect(loadPolicySet(folder)).rejects.toThrow(expected);
  });

  test('a folder without policies', async () => {
    await expect(loadPolicySet(await folderWith({}))).rejects.toThrow(/no \*\.cedar file.*AEGIS_POLICY_DIR/);
  });
});

test('a parameter that one action of the scope has may be tested for on all', () => {
  const amount = { type: 'object', properties: { amount: { type: 'integer' } } };
  const tools = [registration('t', 'pay', { parameters_schema: amount }), registration('t', 'other')];
  const policies = { p: `@id("p") ${PERMIT} when { !(context.parameters has amount) };` };

  expect(buildPolicySet({ policies, tools }).revision).toMatch(/^[0-9a-f]{64}$/);
});

test.each([
  'permit (principal, action == Aegis::Action::"ask", resource) when { context.routable && !context.denied_before };',
  'forbid (principal, action == Aegis::Action::"resume", resource) when { resource is Aegis::Session && resource has agent };',
  'forbid (principal, action == Aegis::Action::"widen", resource) when { !(resource has owner) };',
  'forbid (principal == Aegis::Agent::"bot-1", action, resource in Aegis::Tool::"stripe");',
  'permit (principal, action, resource) when { principal is Aegis::Agent && principal has owner };',
])('what some entity of the scope has is taken: %s', (policy) => {
  const policies = { p: `@id("p") ${policy}` };

  expect(buildPolicySet({ policies, tools: [] }).revision).toMatch(/^[0-9a-f]{64}$/);
});

describe('a registry is refused for', () => {
  const properties = (members: Record<string, { type: string }>) => ({ type: 'object', properties: members });
  const bad: [string, Parameters<typeof registration>[2][], RegExp][] = [
    ['two registrations that meet in normal form', [{}, {}], /`t\.a` is already registered\. .*Rename one/],
    ['an alias that meets a name', [{ aliases: [' T /%61'] }], /`t\.a` is already registered/],
    [
      'an alias without an action',
      [{ aliases: ['tool'] }],
      /an alias is no name\. Write aliases as "tool\/action"/,
    ],
    ['an alias that is refused as a name', [{ aliases: ['t/\u200b'] }], /an alias is no name/],
    [
      'a destructive tool that changes nothing',
      [{ mutates_state: false, destructive: true }],
      /changes state/,
    ],
    ['a schema of no object', [{ parameters_schema: { type: 'string' } }], /does not describe an object/],
    [
      'a schema with an unknown keyword',
      [{ parameters_schema: { type: 'object', propertys: {} } }],
      /unknown keyword/,
    ],
    [
      'a remote reference',
      [{ parameters_schema: { type: 'object', $ref: 'https://example.com/s' } }],
      /`parameters_schema\/\$ref` refers to no schema of this document/,
    ],
    [
      'a pattern that no linear engine runs',
      [{ parameters_schema: { type: 'object', properties: { a: { type: 'string', pattern: '(a)\\1' } } } }],
      /parameters_schema/,
    ],
    [
      'a command that is not marked as one',
      [{ parameters_schema: properties({ cmd: { type: 'string' } }) }],
      /`cmd` looks like a command/,
    ],
    [
      'a command parameter that is not declared',
      [{ command_parameter: 'run' }],
      /`command_parameter` names `run`, which is not declared as a string/,
    ],
    [
      'an argument vector that is none',
      [
        {
          parameters_schema: properties({ run: { type: 'string' }, argv: { type: 'string' } }),
          command_parameter: 'run',
          argv_parameter: 'argv',
        },
      ],
      /no argument vector/,
    ],
  ];

  test.each(bad)('%s', (_, members, expected) => {
    const tools = members.map((one, index) => registration(index === 0 ? 't' : ' T', 'a', one));

    expect(() => buildPolicySet({ policies: {}, tools })).toThrow(expected);
  });

  test('a name that is refused', () => {
    expect(() => buildPolicySet({ policies: {}, tools: [registration('t\u202e', 'a')] })).toThrow(
      /the name has/,
    );
  });

  test('a tool file with an unknown member, named by its place', async () => {
    const file = { tool: 't', operations: { a: { mutates_state: true, permision: 'deny' } } };
    const folder = await folderWith({
      'a.cedar': `@id("p") ${PERMIT};`,
      'tools/t.json': JSON.stringify(file),
    });

    await expect(loadPolicySet(folder)).rejects.toThrow(
      /tools\/t\.json: `\/operations\/a\/permision`: is not known/,
    );
  });

  test('a tool file with a repeated member', async () => {
    const folder = await folderWith({
      'a.cedar': `@id("p") ${PERMIT};`,
      'tools/t.json': '{"tool":"t","tool":"u"}',
    });

    await expect(loadPolicySet(folder)).rejects.toThrow(/tools\/t\.json: .*duplicate_member/);
  });
});

function ask(annotation: string): string {
  return `@id("p") @decision("require_approval") ${annotation} ${PERMIT};`;
}

async function folderWith(files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'aegis-policy-'));
  folders.push(folder);
  await mkdir(join(folder, 'tools'));
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  return folder;
}
