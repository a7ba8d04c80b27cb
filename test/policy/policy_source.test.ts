import { afterAll, describe, expect, test } from 'vitest';
import type { PolicySet } from '../../src/core/policy.ts';
import type { BaseRules, Rules } from '../../src/core/rules.ts';
import type { PolicyCompiler } from '../../src/core/rules_ports.ts';
import { createPolicySource, type PolicySourceOptions } from '../../src/operations/policy_source.ts';
import { compilerOfTests, emptyRequest } from './compiler_support.ts';

const compiler = compilerOfTests();
afterAll(() => compiler.close());

const PERMIT = '@id("p") permit (principal is Aegis::Agent, action, resource);';

function rulesWith(text: string): Rules {
  const base: BaseRules = { policies: { p: PERMIT }, tools: [] };
  return { base, policies: { own: `@id("own") ${text}` }, tools: [], permissions: [] };
}

const ALLOWING = rulesWith('permit (principal is Aegis::Agent, action, resource);');
const DENYING = rulesWith('forbid (principal is Aegis::Agent, action, resource);');

async function compile(rules: Rules): Promise<PolicySet> {
  const compilation = await compiler.compile(rules);
  if (compilation.kind === 'refused') throw new TypeError(JSON.stringify(compilation.problems));
  return compilation.set;
}

/** A source over these stored revisions, and how often each of its parts was asked. */
function createWorld(stored: Record<string, Record<string, Rules>>, options: PolicySourceOptions = {}) {
  const asked = { findRules: 0, compile: 0 };
  const revisions = {
    findRules: async (tenantId: string, revision: string) => {
      asked.findRules += 1;
      return stored[tenantId]?.[revision];
    },
  };
  const counting: Pick<PolicyCompiler, 'compile'> = {
    compile: (rules) => {
      asked.compile += 1;
      return compiler.compile(rules);
    },
  };
  return { source: createPolicySource(revisions, counting, options), asked };
}

describe('a revision', () => {
  test('wanted by many tenants at once is compiled once, and found from then on', async () => {
    const { revision } = await compile(ALLOWING);
    const { source, asked } = createWorld({ a: { [revision]: ALLOWING }, b: { [revision]: ALLOWING } });
    expect(source.find(revision)).toBeUndefined();

    const tenants = ['a', 'b', 'a', 'b', 'a'];
    const sets = await Promise.all(tenants.map((tenant) => source.load(tenant, revision)));

    expect(new Set(sets).size).toBe(1);
    expect(asked).toEqual({ findRules: 2, compile: 1 });
    expect(source.find(revision)).toBe(sets[0]);
    expect(await source.load('a', revision)).toBe(sets[0]);
  });

  test('that a tenant does not have is unavailable, whatever another tenant loads', async () => {
    const { revision } = await compile(ALLOWING);
    const { source } = createWorld({ a: { [revision]: ALLOWING } });

    const [own, foreign] = await Promise.allSettled([source.load('a', revision), source.load('b', revision)]);

    expect(own.status).toBe('fulfilled');
    expect(foreign).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
  });

  test('that does not compile is unavailable, and tried again', async () => {
    const broken = rulesWith('permit (principal, action, resource) when { context.sauce };');
    const { source, asked } = createWorld({ a: { broken } });

    await expect(source.load('a', 'broken')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(source.load('a', 'broken')).rejects.toMatchObject({ code: 'unavailable' });
    expect(asked.compile).toBe(2);
  });

  test('that compiles to another one here is unavailable: other rules would decide', async () => {
    const { source } = createWorld({ a: { another: ALLOWING } });

    await expect(source.load('a', 'another')).rejects.toMatchObject({ code: 'unavailable' });
    expect(source.find('another')).toBeUndefined();
  });

  test('of which the store does not answer is unavailable, and tried again', async () => {
    const { revision } = await compile(ALLOWING);
    let isDown = true;
    const findRules = async () => {
      if (isDown) throw new Error('no connection');
      return ALLOWING;
    };
    const source = createPolicySource({ findRules }, compiler);

    await expect(source.load('a', revision)).rejects.toMatchObject({ code: 'unavailable' });
    isDown = false;
    expect((await source.load('a', revision)).revision).toBe(revision);
  });

  test('that was compiled before it is activated is kept as it is', async () => {
    const set = await compile(ALLOWING);
    const { source, asked } = createWorld({});

    source.keep(set);

    expect(source.find(set.revision)).toBe(set);
    expect(asked.findRules).toBe(0);
  });
});

describe('of more sets than are kept', () => {
  test('the one unused for longest is dropped, and denies from then on', async () => {
    let now = 0;
    const { source } = createWorld({}, { setsMax: 1, quietMs: 100, monotonicNow: () => now });
    const [first, second] = [await compile(ALLOWING), await compile(DENYING)];
    source.keep(first);
    expect(first.decide(emptyRequest()).decision).toBe('allow');

    now = 101;
    source.keep(second);

    expect(source.find(first.revision)).toBeUndefined();
    expect(source.find(second.revision)).toBe(second);
    expect(first.decide(emptyRequest()).decision).toBe('deny');
  });

  test('none is dropped that was used a moment ago', async () => {
    let now = 0;
    const { source } = createWorld({}, { setsMax: 1, quietMs: 100, monotonicNow: () => now });
    const [first, second] = [await compile(ALLOWING), await compile(DENYING)];
    source.keep(first);

    now = 50;
    source.find(first.revision);
    now = 101;
    source.keep(second);

    expect(source.find(first.revision)).toBe(first);
    expect(first.decide(emptyRequest()).decision).toBe('allow');
  });
});
