import { describe, expect, test } from 'vitest';
import type {
  Approver,
  ApproverRequest,
  AskStanding,
  Decision,
  DecisionRequest,
  PolicySet,
} from '../../src/core/policy.ts';
import type { ToolRegistration } from '../../src/core/tool_registration.ts';
import { buildAgentCall } from '../../src/policy/call_facts.ts';
import { evaluate, parsePolicy, preparePolicies } from '../../src/policy/cedar.ts';
import { READS_ALL, readsOf } from '../../src/policy/reads.ts';
import { buildRegistry } from '../../src/policy/registry.ts';
import { buildPolicySet, loadPolicySet } from './policy_sets.ts';
import { POLICY_DIRECTORY, readFacts, registration, request, settle } from './support.ts';

const AMOUNT = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] };
const SCOPE = '(principal is Aegis::Agent, action == Aegis::Action::"pay.out", resource)';
/** Valid to the validator, and an overflow for every amount above zero. */
const OVERFLOW = 'context.parameters.amount + 9223372036854775807 < 0';
const OVERFLOW_OF_TIME = 'context.now.offset(duration("106751991167d")) < context.now';

function payTools(members: Partial<ToolRegistration> = {}): ToolRegistration[] {
  return [registration('pay', 'out', { parameters_schema: AMOUNT, ...members })];
}

/** A set of the policies given without their `@id`, about the tool `pay`/`out`. */
function paySet(bodies: Record<string, string>, tools = payTools()): PolicySet {
  const policies = Object.entries(bodies).map(([id, body]) => [id, `@id("${id}") ${body}`]);
  return buildPolicySet({ policies: Object.fromEntries(policies), tools });
}

const pay = (amount = 1): DecisionRequest => request('pay', 'out', { amount });

function askTerms(decision: Decision) {
  return decision.decision === 'require_approval' ? decision.terms : undefined;
}

describe('FAIL CLOSED', () => {
  test('an erroring forbid never leaves an allow', () => {
    const set = paySet({ ok: `permit ${SCOPE};`, broken: `forbid ${SCOPE} when { ${OVERFLOW} };` });

    expect(set.decide(pay(0)).decision).toBe('allow');
    expect(set.decide(pay(1))).toMatchObject({
      decision: 'deny',
      denial: null,
      determiningPolicies: [],
      reason: expect.stringContaining('policy `broken` could not be evaluated'),
    });
  });

  test('an erroring permit beside one that applies is a deny', () => {
    const set = paySet({ ok: `permit ${SCOPE};`, broken: `permit ${SCOPE} when { ${OVERFLOW} };` });

    expect(set.decide(pay()).decision).toBe('deny');
  });

  test('an erroring forbid on asking turns the ask into a deny', () => {
    const set = paySet({
      asks: `@decision("require_approval") permit ${SCOPE};`,
      broken: `forbid (principal, action == Aegis::Action::"ask", resource) when { ${OVERFLOW_OF_TIME} };`,
    });

    expect(set.decide(pay()).decision).toBe('require_approval');
    expect(settle(set, pay())).toMatchObject({ decision: 'deny', determiningPolicies: [], denial: null });
  });

  test('an erroring forbid on approvers refuses the approver', () => {
    const scope = '(principal is Aegis::Approver, action == Aegis::Action::"approve", resource)';
    const late = 'datetime("2026-01-01").offset(duration("106751991167d")) < datetime("2026-01-01")';
    const set = paySet({ ok: `permit ${scope};`, broken: `forbid ${scope} when { ${late} };` });
    const approval = {
      approvalId: 'apr_1',
      agent: 'agent-1',
      owner: null,
      editors: [],
      resolved: { tool: 'pay', action: 'out' },
      environment: null,
      requiredGroups: [],
      selfApproval: [],
      hasOwnVote: false,
    };

    const judged = set.judgeApprover({
      action: 'approve',
      approver: { principal: 'ann', groups: [], roles: ['approver'] },
      approval,
    });

    expect(judged).toMatchObject({ kind: 'refused', code: 'approver_not_eligible' });
  });

  test('a value Cedar does not take, wherever it comes from, is a deny and no exception', () => {
    const set = paySet({ ok: `permit ${SCOPE} when { context has workspace };` });
    const broken = { ...pay(), context: { ...pay().context, workspace: 1.5 as unknown as string } };

    expect(set.decide(broken)).toMatchObject({ decision: 'deny', determiningPolicies: [] });
    expect(set.decide({} as DecisionRequest).decision).toBe('deny');
  });

  test('a name that the HTTP layer would have refused is a deny', () => {
    const set = paySet({ ok: `permit ${SCOPE};` });

    expect(set.decide(request('pa\u200by', 'out', { amount: 1 }))).toMatchObject({
      decision: 'deny',
      resolved: { tool: '', action: '' },
    });
  });

  test('asks that demand more votes than an approval can hold are a deny', () => {
    const ask = (groups: string) => `@decision("require_approval") @groups("${groups}") permit ${SCOPE};`;
    const set = paySet({ one: ask('a,b,c,d,e,f'), two: ask('g,h,i,j,k') });

    expect(set.decide(pay())).toMatchObject({
      decision: 'deny',
      reason: expect.stringContaining('10 votes'),
    });
  });
});

describe('from policies to a decision', () => {
  test('a forbid wins over permits and asks, and only forbids are named', () => {
    const set = paySet({
      ok: `permit ${SCOPE};`,
      asks: `@decision("require_approval") permit ${SCOPE};`,
      no: `@reason("no") forbid ${SCOPE};`,
    });

    expect(set.decide(pay())).toMatchObject({
      decision: 'deny',
      determiningPolicies: ['no'],
      reason: 'no',
      denial: null,
    });
  });

  test('an ask wins over a plain permit, and only asks are named', () => {
    const set = paySet({ ok: `permit ${SCOPE};`, asks: `@decision("require_approval") permit ${SCOPE};` });

    expect(set.decide(pay())).toMatchObject({ decision: 'require_approval', determiningPolicies: ['asks'] });
  });

  test('several asks are united to the strictest of each demand, their reasons in order of id', () => {
    const set = paySet({
      b: `@decision("require_approval") @reason("second") @groups("legal,finance") @ttl_seconds("300")
          @max_scope("session") @self_approval("any") permit ${SCOPE};`,
      a: `@decision("require_approval") @reason("first") @groups("finance,security") @ttl_seconds("60")
          @max_scope("window") @signature("webauthn") @self_approval("owner") permit ${SCOPE};`,
    });

    const decision = set.decide(pay());

    expect(decision).toMatchObject({ reason: 'first; second', determiningPolicies: ['a', 'b'] });
    expect(askTerms(decision)).toEqual({
      requirements: { votes: 3, groups: ['finance', 'legal', 'security'], signature: 'webauthn' },
      ttlSeconds: 60,
      selfApproval: ['owner'],
      maxScope: 'session',
    });
  });

  test('an ask that says nothing lets an approval count once, and nobody behind it approve', () => {
    const set = paySet({
      a: `@decision("require_approval") permit ${SCOPE};`,
      b: `@decision("require_approval") @votes("3") @max_scope("window") @self_approval("any") permit ${SCOPE};`,
    });

    expect(askTerms(set.decide(pay()))).toEqual({
      requirements: { votes: 3, groups: [], signature: 'none' },
      ttlSeconds: null,
      selfApproval: [],
      maxScope: 'once',
    });
  });

  test('a policy keeps an integer that javascript would round', () => {
    const text = `permit ${SCOPE} when { context.parameters.amount + 9007199254740992 == 9007199254740993 };`;

    expect(paySet({ p: text }).decide(pay(1)).decision).toBe('allow');
  });

  test('a default deny says what to add', () => {
    const set = paySet({});

    expect(set.decide(pay()).reason).toContain('Add a permit for Aegis::Action::"pay.out"');
    expect(set.decide(request(' GitHub', 'Merge', {}))).toMatchObject({
      decision: 'deny',
      determiningPolicies: [],
      denial: null,
      resolved: { tool: 'github', action: 'merge' },
      reason: expect.stringMatching(
        /^`github`\/`merge` is not registered\. Register it with `PUT \/v1\/tools\/:tool\/:action` or in policies\/tools/,
      ),
    });
  });

  test('an alias meets the policy of what it stands for', () => {
    const set = paySet({ ok: `permit ${SCOPE};` }, payTools({ aliases: ['wire/Send Out'] }));

    expect(set.decide(request('WIRE', 'send%20out', { amount: 1 }))).toMatchObject({
      decision: 'allow',
      resolved: { tool: 'pay', action: 'out' },
    });
  });

  test('names with dots and percent signs do not meet those of others', () => {
    const tools = [registration('a.b', 'c'), registration('a', 'b.c')];
    const set = paySet({ ok: 'permit (principal, action == Aegis::Action::"a%2Eb.c", resource);' }, tools);

    expect(set.decide(request('a.b', 'c', {})).decision).toBe('allow');
    expect(set.decide(request('a', 'b.c', {})).decision).toBe('deny');
  });

  test('an unattended deny tells the model not to try another way', async () => {
    const set = await loadPolicySet(POLICY_DIRECTORY);

    const decision = settle(set, request('shell', 'exec', { command: 'ls' }, { unattended: true }));

    expect(decision).toMatchObject({
      denial: { by: 'unattended', instruction: expect.stringMatching(/do not retry.*reword.*same effect/is) },
    });
  });

  test.each([
    ['principal in Aegis::Group::"bots"', true],
    ['principal in Aegis::Group::"people"', false],
    ['principal has owner && principal.owner == Aegis::Approver::"olga"', true],
    ['resource in Aegis::Tool::"pay"', true],
    ['resource.path like "ch_*"', true],
    ['resource.path like "re_*"', false],
    ['context.tool.idempotent', false],
    ['action in Aegis::Action::"write"', true],
    ['context has session_id && context.session_id == "s-1"', true],
    ['context has workspace', false],
    ['context.now > datetime("2026-01-01") && context.now < datetime("2026-01-03")', true],
    ['context.contains_sensitive_data', false],
    ['context.tier == Aegis::Tier::"auto" && !context.paused', true],
    ['context.tool has permission', false],
    ['principal.risk_tier == "unrated"', true],
    ['context.paths == {} && context.hosts == {}', true],
  ])('a policy reads the facts of the model: %s', (condition, holds) => {
    const set = paySet({ p: `permit ${SCOPE} when { ${condition} };` });
    const call = request('pay', 'out', { amount: 1 }, { session_id: 's-1' });

    const decision = set.decide({ ...call, toolCall: { ...call.toolCall, resource: 'ch_1' } });

    expect(decision.decision).toBe(holds ? 'allow' : 'deny');
    expect(decision.reason).not.toContain('could not be evaluated');
  });
});

describe('an ask', () => {
  const onAsk = '(principal, action == Aegis::Action::"ask", resource)';
  const asks = `@decision("require_approval") permit ${SCOPE};`;
  const standing = (members: Partial<AskStanding>) => ({ routable: true, deniedBefore: false, ...members });

  test('is what policy alone makes of a call, and stays as it is when nothing forbids asking', () => {
    const set = paySet({ asks, never: `forbid ${onAsk} unless { context.routable };` });
    const decided = set.decide(pay());

    expect(decided.decision).toBe('require_approval');
    expect(settle(set, pay())).toEqual(decided);
  });

  test('that something forbids is a deny by what the forbid says, in its words', () => {
    const no = `@denied_by("unroutable") @reason("nobody there") forbid ${onAsk} unless { context.routable };`;
    const set = paySet({ asks, no });

    expect(settle(set, pay(), standing({ routable: false }))).toMatchObject({
      decision: 'deny',
      determiningPolicies: ['no'],
      reason: 'nobody there',
      denial: { by: 'unroutable', reason: 'nobody there' },
      resolved: { tool: 'pay', action: 'out' },
      policyRevision: set.revision,
    });
  });

  test('can be forbidden by facts of the call, and by a policy that names nothing it is denied by', () => {
    const forbidding = (condition: string) => paySet({ asks, no: `forbid ${onAsk} when { ${condition} };` });
    const conditions = [
      'context.tool.mutates_state',
      'context.source_trust == Aegis::Trust::"trusted_internal"',
      'context.tier == Aegis::Tier::"auto"',
      'principal in Aegis::Group::"bots"',
      'resource in Aegis::Tool::"pay"',
      'context.now > datetime("2026-01-01")',
    ];

    for (const condition of conditions) {
      expect(settle(forbidding(condition), pay())).toMatchObject({ decision: 'deny', denial: null });
      expect(settle(forbidding(`!(${condition})`), pay()).decision).toBe('require_approval');
    }
  });

  test('that a forbid on everything meets is denied at once', () => {
    const set = paySet({
      asks,
      no: 'forbid (principal is Aegis::Agent, action, resource) when { context.paused };',
    });

    expect(set.decide({ ...pay(), paused: true })).toMatchObject({
      decision: 'deny',
      determiningPolicies: ['no'],
    });
  });

  test('is not made of anything by permits under its action', () => {
    const set = paySet({
      asks,
      also: `permit ${onAsk};`,
      no: `permit ${onAsk} when { context.unattended };`,
    });

    expect(settle(set, pay())).toEqual(set.decide(pay()));
  });

  test('settled against a call that no longer fits is a deny', () => {
    const set = paySet({ asks });
    const ask = set.decide(pay());
    if (ask.decision !== 'require_approval') throw new TypeError('the call is an ask');

    expect(set.settleAsk(request('pay', 'out', { amount: 'x' }), ask, standing({}))).toMatchObject({
      decision: 'deny',
      denial: { by: 'parameters' },
    });
    expect(set.settleAsk({} as DecisionRequest, ask, standing({}))).toMatchObject({
      decision: 'deny',
      resolved: { tool: 'pay', action: 'out' },
    });
  });
});

test('a decision names the secret parameters of its tool, whatever it is', () => {
  const set = paySet({ p: `permit ${SCOPE};` }, payTools({ secret_parameters: ['amount'] }));

  expect(set.decide(pay()).secretParameters).toEqual(['amount']);
  expect(set.decide(request('pay', 'out', { amount: 'x' })).secretParameters).toEqual(['amount']);
  expect(set.decide(request('x', 'y', {})).secretParameters).toEqual([]);
});

describe('those who decide', () => {
  const scopeOf = (action: string) =>
    `(principal is Aegis::Approver, action == Aegis::Action::"${action}", resource)`;
  const approver: Approver = { principal: 'Ann', groups: ['finance'], roles: ['approver'] };
  const approval: ApproverRequest['approval'] = {
    approvalId: 'apr_1',
    agent: 'agent-1',
    owner: null,
    editors: [],
    resolved: { tool: 'pay', action: 'out' },
    environment: 'production',
    requiredGroups: ['finance'],
    selfApproval: [],
    hasOwnVote: false,
  };

  test.each([
    ['@code("scope_not_allowed") ', 'scope_not_allowed'],
    ['@code("self_approval_forbidden") ', 'self_approval_forbidden'],
    ['@code("approver_not_eligible") ', 'approver_not_eligible'],
    ['', 'approver_not_eligible'],
  ])('are told the code of the policy that refuses: %s', (code, expected) => {
    const condition = 'resource has environment && resource.environment == "production"';
    const no = `${code}@reason("not so far") forbid ${scopeOf('widen')} when { ${condition} };`;
    const set = paySet({ ok: `permit ${scopeOf('widen')};`, no });

    expect(set.judgeApprover({ action: 'widen', approver, approval })).toEqual({
      kind: 'refused',
      code: expected,
      reason: expect.stringMatching(/^not so far; an approver/),
    });
    const elsewhere = { ...approval, environment: null };
    expect(set.judgeApprover({ action: 'widen', approver, approval: elsewhere })).toEqual({
      kind: 'permitted',
    });
  });

  test('are told of self-approval first', () => {
    const set = paySet({
      a: `@code("scope_not_allowed") forbid ${scopeOf('widen')};`,
      b: `@code("self_approval_forbidden") forbid ${scopeOf('widen')};`,
    });

    expect(set.judgeApprover({ action: 'widen', approver, approval })).toMatchObject({
      code: 'self_approval_forbidden',
    });
  });

  test('resume an agent or a session that a policy lets them, and nothing without one', () => {
    const ofSession = `permit ${scopeOf('resume')} when { resource is Aegis::Session && resource.agent has owner && resource.agent.owner == principal };`;
    const set = paySet({ ok: ofSession });
    const agent = { principal: 'Agent-1', owner: 'ann' };

    expect(set.judgeResume({ approver, agent, sessionId: 's-1' })).toEqual({ kind: 'permitted' });
    expect(set.judgeResume({ approver, agent, sessionId: null }).kind).toBe('refused');
    expect(set.judgeResume({ approver, agent: { ...agent, owner: null }, sessionId: 's-1' }).kind).toBe(
      'refused',
    );
    expect(paySet({}).judgeResume({ approver, agent, sessionId: null })).toMatchObject({
      kind: 'refused',
      code: 'approver_not_eligible',
    });
  });

  test('of another session than the one that a policy names do not resume it', () => {
    const set = paySet({
      ok: 'permit (principal, action == Aegis::Action::"resume", resource == Aegis::Session::"agent-1/s-1");',
    });
    const judge = (principal: string, sessionId: string) =>
      set.judgeResume({ approver, agent: { principal, owner: null }, sessionId }).kind;

    expect(judge('agent-1', 's-1')).toBe('permitted');
    expect(judge('agent-2', 's-1')).toBe('refused');
    expect(judge('agent-1', 's-2')).toBe('refused');
  });
});

describe('what a call holds for its policies', () => {
  const conditions = [
    'context.tool == {registered: true, mutates_state: true, idempotent: false, destructive: false, requires_approval: false}',
    '(if context.unattended then context else context).tool.registered',
    'context has tool.registered && context.tool has idempotent',
    'context.parameters == {amount: 1}',
    'context.parameters has amount && !(context.parameters has other)',
    '[context.source_trust].contains(Aegis::Trust::"trusted_internal")',
    'principal == Aegis::Agent::"agent-1" && action in Aegis::Action::"invoke" && resource in Aegis::Tool::"pay"',
  ];

  test.each(conditions)('is enough to answer as the whole call would: %s', (condition) => {
    const text = `permit (principal, action, resource) when { ${condition} };`;
    const parsed = parsePolicy(text);
    const [operation] = buildRegistry(payTools()).registry.operations;
    if (parsed.kind !== 'ok' || operation === undefined) throw new TypeError('the policy does not parse');
    preparePolicies(condition, { p: text });
    const ask = (reads: typeof READS_ALL) =>
      evaluate(condition, buildAgentCall(readFacts(operation, pay()), reads));

    expect(ask(readsOf([parsed.value]))).toEqual({ kind: 'answered', decision: 'allow', reason: ['p'] });
    expect(ask(READS_ALL)).toEqual({ kind: 'answered', decision: 'allow', reason: ['p'] });
  });

  test('holds nothing that no policy reads', () => {
    const parsed = parsePolicy(
      'permit (principal is Aegis::Agent, action, resource) when { context.tool.registered };',
    );
    const [operation] = buildRegistry(payTools()).registry.operations;
    if (parsed.kind !== 'ok' || operation === undefined) throw new TypeError('the policy does not parse');

    const call = buildAgentCall(readFacts(operation, pay()), readsOf([parsed.value]));

    expect(call).toMatchObject({ context: { tool: { registered: true } }, entities: [] });
    expect(Object.keys(call.context)).toEqual(['tool']);
  });
});

describe('the revision', () => {
  const permit = `@id("p") permit ${SCOPE};`;
  const forbid = `@id("f") forbid ${SCOPE} when { context.unattended };`;
  const base = buildPolicySet({ policies: { p: permit, f: forbid }, tools: payTools() });

  test('does not depend on the order of policies and tools', () => {
    const other = registration('a', 'b');
    const one = buildPolicySet({ policies: { p: permit, f: forbid }, tools: [...payTools(), other] });
    const two = buildPolicySet({ policies: { f: forbid, p: permit }, tools: [other, ...payTools()] });

    expect(one.revision).toMatch(/^[0-9a-f]{64}$/);
    expect(two.revision).toBe(one.revision);
  });

  test.each([
    ['a policy', { p: permit, f: forbid.replace('unattended', 'contains_sensitive_data') }, payTools()],
    ['a policy more', { p: permit, f: forbid, g: `@id("g") permit ${SCOPE};` }, payTools()],
    ['a fact', { p: permit, f: forbid }, payTools({ idempotent: true })],
    ['an alias', { p: permit, f: forbid }, payTools({ aliases: ['x/y'] })],
    ['a schema', { p: permit, f: forbid }, payTools({ parameters_schema: { ...AMOUNT, minProperties: 1 } })],
  ])('moves with %s', (_, policies: Record<string, string>, tools) => {
    expect(buildPolicySet({ policies, tools }).revision).not.toBe(base.revision);
  });

  test('sets with the same ids in one process keep their own answers', () => {
    const allowing = paySet({ p: `permit ${SCOPE};` });
    const denying = paySet({ p: `forbid ${SCOPE};` });

    expect(allowing.decide(pay()).decision).toBe('allow');
    expect(denying.decide(pay())).toMatchObject({ decision: 'deny', determiningPolicies: ['p'] });
    expect(allowing.decide(pay()).decision).toBe('allow');
  });

  test("the hash of a tool's facts moves with its facts and not with its aliases or other tools", () => {
    const hashOf = (tools: ToolRegistration[]) => paySet({}, tools).decide(pay()).toolFactsHash;

    expect(hashOf(payTools())).toMatch(/^[0-9a-f]{64}$/);
    expect(hashOf([...payTools({ aliases: ['x/y'] }), registration('a', 'b')])).toBe(hashOf(payTools()));
    expect(hashOf(payTools({ destructive: true }))).not.toBe(hashOf(payTools()));
    expect(hashOf([])).not.toBe(hashOf(payTools()));
  });
});
