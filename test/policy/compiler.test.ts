import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Rules } from '../../src/core/rules.ts';
import type { PastCall } from '../../src/core/rules_ports.ts';
import { WAITING_MAX } from '../../src/policy/tenant_turns.ts';
import { compilerOfTests } from './compiler_support.ts';
import { loadPolicySet } from './policy_sets.ts';
import { POLICY_DIRECTORY, registration, request } from './support.ts';

const compiler = compilerOfTests();
const folder = mkdtempSync(join(tmpdir(), 'aegis-compiler-'));
afterAll(async () => {
  await compiler.close();
  rmSync(folder, { recursive: true });
});

const PERMIT = 'permit (principal is Aegis::Agent, action in Aegis::Action::"invoke", resource)';
const RULES: Rules = {
  base: { policies: { base: `@id("base") ${PERMIT};` }, tools: [{ ...registration('pay', 'out') }] },
  policies: {},
  tools: [],
  permissions: [],
};

async function readBase(directory: string) {
  const reading = await compiler.readFolder(directory);
  if (reading.kind === 'refused') throw new TypeError(JSON.stringify(reading.problems));
  return reading.base;
}

async function split(text: string) {
  const reading = await compiler.splitText(text);
  if (reading.kind === 'refused') throw new TypeError(JSON.stringify(reading.problems));
  return reading.policies;
}

test('the starter set compiled on the thread is that loaded here, and decides alike', async () => {
  const base = await readBase(POLICY_DIRECTORY);
  const compilation = await compiler.compile({ ...RULES, base });
  const loaded = await loadPolicySet(POLICY_DIRECTORY);
  if (compilation.kind === 'refused') throw new TypeError(JSON.stringify(compilation.problems));
  const { set } = compilation;

  expect(set.revision).toBe(loaded.revision);
  for (const amount of [1, 9_000, 900_000]) {
    const asked = request('stripe', 'refund', { amount, currency: 'usd' });
    expect(set.decide(asked)).toEqual(loaded.decide(asked));
  }
  loaded.dispose();
});

describe('a problem is told', () => {
  test('by file, line and column of the folder it was read from', async () => {
    const isNoCase = (source: string) => source !== join(POLICY_DIRECTORY, 'cases');
    cpSync(POLICY_DIRECTORY, folder, { recursive: true, filter: isNoCase });
    writeFileSync(join(folder, 'own.cedar'), `// mine\n\n@id("own")\n${PERMIT}\nwhen { context.sauce };\n`);
    const base = await readBase(folder);

    const compilation = await compiler.compile({ ...RULES, base });

    expect(compilation).toMatchObject({ kind: 'refused' });
    expect(compilation).toHaveProperty(
      'problems',
      expect.arrayContaining([
        expect.objectContaining({ policyId: 'own', source: 'own.cedar', line: 5, column: 8 }),
      ]),
    );
  });

  test('by line and column of the text that was sent', async () => {
    const policies = await split(`@id("good") ${PERMIT};\n  @id("bad")\n${PERMIT} when { context.sauce };`);

    const compilation = await compiler.compile({ ...RULES, policies });

    expect(compilation).toHaveProperty(
      'problems',
      expect.arrayContaining([
        expect.objectContaining({ policyId: 'bad', source: null, line: 3, column: PERMIT.length + 9 }),
      ]),
    );
  });

  test.each([
    ['a policy without an id', `${PERMIT};`, 1, 1],
    ['an id that is taken', `@id("a") ${PERMIT};\n@id("a") ${PERMIT};`, 2, 1],
    ['what is no policy', `@id("a") ${PERMIT};\npermit all;`, 2, 8],
  ])('when a text has %s', async (_, text, line, column) => {
    expect(await compiler.splitText(text)).toMatchObject({
      kind: 'refused',
      problems: [{ source: null, line, column }],
    });
  });

  test('when checking takes too long, and the next job is done', async () => {
    const hasty = compilerOfTests({ deadlineMs: 1 });

    expect(await hasty.compile(RULES)).toMatchObject({
      kind: 'refused',
      problems: [{ message: 'checking the rules takes too long' }],
    });
    await hasty.close();
  });
});

test('a folder that is not there is the file system’s error', async () => {
  await expect(compiler.readFolder(join(folder, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('many jobs at once are each answered with their own', async () => {
  const texts = Array.from({ length: 20 }, (_, index) => `@id("p${index}") ${PERMIT};`);

  const answers = await Promise.all(texts.map((text) => split(text)));

  expect(answers.map((policies) => Object.values(policies).join())).toEqual(texts);
});

test('a closed compiler does no job, not even one that waits', async () => {
  const closed = compilerOfTests();
  const waiting = [closed.compile(RULES), closed.splitText('')];
  const settled = Promise.allSettled(waiting);

  await closed.close();

  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(closed.splitText('')).rejects.toThrow('closed');
});

describe('the works of a tenant', () => {
  /** A work that is done when it is told to be. */
  function work(tenantId: string) {
    let finish: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let hasBegun = false;
    const done = compiler.inTurn(tenantId, async () => {
      hasBegun = true;
      await gate;
      return tenantId;
    });
    return { done, finish, hasBegun: () => hasBegun };
  }

  test('are done one after another, so many wait, and one more is refused at once', async () => {
    const first = work('a');
    const waiting = Array.from({ length: WAITING_MAX }, () => work('a'));
    await expect(work('a').done).rejects.toMatchObject({ code: 'throttled', retryAfterSeconds: 2 });
    expect([first, ...waiting].map(({ hasBegun }) => hasBegun())).toEqual([
      true,
      ...waiting.map(() => false),
    ]);

    first.finish();
    await first.done;
    await expect.poll(() => waiting[0]?.hasBegun()).toBe(true);
    const further = work('a');
    for (const { finish } of [...waiting, further]) finish();

    expect(await further.done).toBe('a');
  });

  test('do not wait for those of another tenant', async () => {
    const [slow, other] = [work('a'), work('b')];

    other.finish();
    expect(await other.done).toBe('b');

    slow.finish();
    await slow.done;
  });

  test('that fail hold up none of those that wait', async () => {
    const failing = compiler.inTurn('a', () => Promise.reject(new Error('no')));
    const next = work('a');

    next.finish();

    await expect(failing).rejects.toThrow('no');
    expect(await next.done).toBe('a');
  });
});

describe('a simulation', () => {
  const call = (id: string, unattended: boolean, decided: PastCall['decided']): PastCall => ({
    kind: 'decision',
    id,
    request: request('pay', 'out', {}, { unattended }),
    decided,
  });
  const FORBID = `@id("own") forbid (principal, action == Aegis::Action::"pay.out", resource) when { context.unattended };`;

  test('tells the calls that would be decided otherwise, and by what', async () => {
    const calls = [call('1', false, 'allow'), call('2', true, 'allow'), call('3', true, 'deny')];

    expect(await compiler.simulate({ ...RULES, policies: { own: FORBID } }, calls)).toEqual({
      kind: 'simulated',
      flips: [{ kind: 'decision', id: '2', from: 'allow', to: 'deny', determiningPolicies: ['own'] }],
    });
  });

  test('settles an ask: one that nobody may be put to is a deny', async () => {
    const policies = {
      own: `@id("own") @decision("require_approval") permit (principal, action == Aegis::Action::"pay.out", resource);`,
      never: `@id("never") forbid (principal, action == Aegis::Action::"ask", resource) when { context.unattended };`,
    };
    const calls = [call('1', false, 'allow'), call('2', true, 'allow')];

    expect(await compiler.simulate({ ...RULES, policies }, calls)).toMatchObject({
      flips: [
        { id: '1', to: 'require_approval', determiningPolicies: ['own'] },
        { id: '2', to: 'deny', determiningPolicies: ['never'] },
      ],
    });
  });

  test('of more calls than are handed over at once tells the flips of all, in order', async () => {
    const ids = Array.from({ length: 450 }, (_, index) => String(index));
    const calls = ids.map((id) => call(id, true, 'allow'));

    const simulation = await compiler.simulate({ ...RULES, policies: { own: FORBID } }, calls);

    expect(simulation.kind === 'simulated' && simulation.flips.map(({ id }) => id)).toEqual(ids);
  });

  test('of rules that do not compile is refused', async () => {
    const policies = await split(`@id("own") ${PERMIT} when { context.sauce };`);

    expect(await compiler.simulate({ ...RULES, policies }, [])).toMatchObject({
      kind: 'refused',
      problems: [{ policyId: 'own', line: 1 }, { policyId: 'own' }],
    });
  });
});
