import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { createCompileJobs } from '../../src/policy/compile_jobs.ts';
import { formatProblem } from '../../src/policy/policy_set_error.ts';
import { compilerOfTests } from './compiler_support.ts';
import { POLICY_DIRECTORY } from './support.ts';

// The cases beside a folder's policies, as the service reads the folder.

const compiler = compilerOfTests();
afterAll(() => compiler.close());

const PAY = '{"tool": "pay", "operations": {"out": {"mutates_state": true}, "in": {"mutates_state": true}}}';
const ALLOWED =
  '@id("pay-out") permit (principal is Aegis::Agent, action == Aegis::Action::"pay.out", resource);';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'aegis-own-cases-'));
  mkdirSync(join(folder, 'tools'));
  writeFileSync(join(folder, 'tools', 'pay.json'), PAY);
  writeFileSync(join(folder, 'main.cedar'), ALLOWED);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function call(action: string, decision: string, more: JsonObject = {}): JsonObject {
  return {
    name: `${action} is ${decision}`,
    tool_call: { tool: 'pay', action, resource: null, mutates_state: true, parameters: {} },
    decision,
    determining_policies: decision === 'allow' ? ['pay-out'] : [],
    ...more,
  };
}

function writeCases(file: JsonObject | string, name = 'pay.json'): void {
  mkdirSync(join(folder, 'cases'), { recursive: true });
  writeFileSync(join(folder, 'cases', name), typeof file === 'string' ? file : JSON.stringify(file));
}

async function problems(): Promise<string[]> {
  const reading = await compiler.readFolder(folder);
  return reading.kind === 'read' ? [] : reading.problems.map(formatProblem);
}

describe('a folder', () => {
  test('whose cases come out as they say is read, and so is the starter set', async () => {
    writeCases({ cases: [call('out', 'allow'), call('in', 'deny', { twin_of: 'pay-out' })] });

    expect(await problems()).toEqual([]);
    expect(await compiler.readFolder(POLICY_DIRECTORY)).toMatchObject({ kind: 'read' });
  });

  test('without cases is read, whatever its policies do', async () => {
    expect(await problems()).toEqual([]);
    writeFileSync(join(folder, 'main.cedar'), ALLOWED.replace('pay.out', 'pay.off'));
    expect(await problems()).toEqual([]);
  });

  test('that no case covers is read: what is refused is what fails', async () => {
    writeCases({ cases: [call('in', 'deny')] });

    expect(await problems()).toEqual([]);
  });

  test('is refused for each case that fails, by file and name, with what was expected and what came out', async () => {
    writeCases({ cases: [call('out', 'deny'), call('out', 'allow'), call('in', 'allow')] });

    expect(await problems()).toEqual([
      'cases/pay.json: case `out is deny`: expected deny, decided by no policy, and it came out as allow, decided by pay-out. Correct the policy or the case; `aegis policy test` runs them alone.',
      expect.stringMatching(/^cases\/pay\.json: case `in is allow`: expected allow.* came out as deny/),
    ]);
    expect(await compiler.readFolder(folder)).toMatchObject({
      problems: [{ pointer: '/cases/0' }, { pointer: '/cases/2' }],
    });
  });

  test('is refused for a twin that the policy decides, and for a policy that is not there', async () => {
    writeCases({
      cases: [call('out', 'allow', { twin_of: 'pay-out' }), call('in', 'deny', { twin_of: 'gone' })],
    });

    expect(await problems()).toEqual([
      expect.stringMatching(/case `out is allow`: it is the twin of `pay-out`, which decides it\./),
      expect.stringMatching(/^cases\/pay\.json: cases name the policy `gone`, which is not there\./),
    ]);
  });

  test('is refused for a case of an approver that fails', async () => {
    const approver = { principal: 'ann', groups: [], roles: ['approver'] };
    const one = { name: 'ann approves', action: 'approve', approver, expected: 'permitted' };
    writeCases({ approver_cases: [one] });

    expect(await problems()).toEqual([
      expect.stringMatching(
        /case `ann approves`: expected permitted, and it came out as approver_not_eligible/,
      ),
    ]);
  });

  test.each<[what: string, file: JsonObject | string, refusal: RegExp]>([
    ['no JSON', '{', /^cases\/pay\.json: .*Write the file as strict JSON/],
    ['no file of cases', { cases: [{ name: 'x' }] }, /^cases\/pay\.json: `\/cases\/0/],
    [
      'a tool that does not fit the folder',
      { tools: [{ tool: 'pay', action: 'out', mutates_state: true, permission: 'allow' }] },
      /^cases\/pay\.json: tool `pay`\/`out`: the permission `allow` is looser/,
    ],
  ])('with %s among its cases is refused', async (_, file, refusal) => {
    writeCases(file);

    expect((await problems())[0]).toMatch(refusal);
  });

  test('with a case that is no file is the file system’s error', async () => {
    mkdirSync(join(folder, 'cases', 'pay.json'), { recursive: true });

    await expect(compiler.readFolder(folder)).rejects.toMatchObject({ code: 'EISDIR' });
  });

  test('with cases that does not compile is refused by file, line and column', async () => {
    writeCases({ cases: [call('out', 'allow')] });
    writeFileSync(join(folder, 'main.cedar'), `\n${ALLOWED.replace(';', ' when { context.sauce };')}`);

    expect((await problems())[0]).toMatch(/^main\.cedar:2:\d+: policy `pay-out`: .*sauce/);
  });

  test('with very many cases that fail tells as many as anybody reads', async () => {
    writeCases({ cases: Array.from({ length: 500 }, () => call('out', 'deny')) });

    const told = await problems();

    expect(told).toHaveLength(101);
    expect(told.at(-1)).toMatch(/there are more problems/);
  });

  test('is judged anew when only a policy, or only a case, has changed', async () => {
    writeCases({ cases: [call('out', 'allow')] });
    expect(await problems()).toEqual([]);
    writeFileSync(join(folder, 'main.cedar'), ALLOWED.replace('pay.out', 'pay.in'));
    expect(await problems()).toHaveLength(1);
    writeFileSync(join(folder, 'main.cedar'), ALLOWED);
    expect(await problems()).toEqual([]);
    writeCases({ cases: [call('out', 'deny')] });
    expect(await problems()).toHaveLength(1);
  });
});

test('what was compiled for the cases is what is compiled without them, and serves once', async () => {
  const copy = join(folder, 'copy');
  cpSync(POLICY_DIRECTORY, copy, { recursive: true });
  const jobs = createCompileJobs();
  const alone = createCompileJobs();
  const reading = await jobs.readFolder(copy);
  if (reading.kind === 'refused') throw new TypeError(JSON.stringify(reading.problems));
  const rules = { base: reading.base, policies: {}, tools: [], permissions: [] };

  const expected = alone.compile(rules);
  const [kept, again] = [jobs.compile(rules), jobs.compile(rules)];

  expect(kept).toEqual(expected);
  expect(again).toEqual(expected);
  expect(again).not.toBe(kept);
});

test('what was compiled for the cases is not given for other rules', async () => {
  writeCases({ cases: [call('out', 'allow')] });
  const base = await compiler.readFolder(folder);
  if (base.kind === 'refused') throw new TypeError(JSON.stringify(base.problems));
  const policies = {
    never: '@id("never") forbid (principal, action == Aegis::Action::"pay.out", resource);',
  };

  const own = await compiler.compile({ base: base.base, policies, tools: [], permissions: [] });
  const alone = await compiler.compile({ base: base.base, policies: {}, tools: [], permissions: [] });

  if (own.kind === 'refused' || alone.kind === 'refused') throw new TypeError('refused');
  expect(own.set.revision).not.toBe(alone.set.revision);
});
