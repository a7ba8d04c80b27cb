import { expect, test } from 'vitest';
import type { Rules } from '../../src/core/rules.ts';
import { createPolicySource } from '../../src/operations/policy_source.ts';
import { compilerOfTests } from './compiler_support.ts';

const RULES: Rules = {
  base: {
    policies: { p: '@id("p") permit (principal is Aegis::Agent, action, resource);' },
    tools: [],
  },
  policies: {},
  tools: [],
  permissions: [],
};

test('nobody waits for a set longer than the deadline, and the load goes on for who asks again', async () => {
  const compiler = compilerOfTests();
  const compilation = await compiler.compile(RULES);
  if (compilation.kind === 'refused') throw new TypeError(JSON.stringify(compilation.problems));
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let compiled = 0;
  const compile: typeof compiler.compile = async (rules) => {
    compiled += 1;
    await held;
    return compiler.compile(rules);
  };
  const source = createPolicySource({ findRules: async () => RULES }, { compile }, { loadMs: 20 });
  const { revision } = compilation.set;

  await expect(source.load('a', revision)).rejects.toMatchObject({ code: 'unavailable' });
  await expect(source.load('a', revision)).rejects.toMatchObject({ code: 'unavailable' });
  release();

  await expect.poll(() => source.find(revision)?.revision).toBe(revision);
  expect(compiled).toBe(1);
  await compiler.close();
});
