import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALLOW, ASK, aegis, type Folder, makeShop, TOOL } from './support.ts';

let before: Folder;
let after: Folder;
beforeAll(() => {
  before = makeShop();
  after = makeShop();
  after.write(
    'shop.cedar',
    `${ALLOW.replace('<= 100', '<= 200')}\n${ASK.replace('"finance"', '"security"')}`,
  );
  after.write(
    'zz.cedar',
    '@id("new-one")\n@doc("x")\nforbid (principal, action, resource) when { false && false };\n',
  );
  after.write('tools/shop.json', TOOL.replace('"idempotent":true', '"idempotent":false'));
});
afterAll(() => {
  before.remove();
  after.remove();
});

describe('aegis policy diff', () => {
  test('tells policies and tools that differ, and the cases that come out otherwise', async () => {
    after.write(
      'zz.cedar',
      '@id("other-forbidden")\nforbid (principal is Aegis::Agent, action, resource) when { context.unattended };\n',
    );
    const { code, stdout } = await aegis('policy', 'diff', before.path, after.path);
    expect(code).toBe(0);
    expect(stdout).toContain('- policy huge-order-forbidden\n+ policy other-forbidden\n');
    expect(stdout).toContain('~ policy small-order-allowed\n');
    expect(stdout).toContain(
      '    -when { context.parameters.amount <= 100 };\n    +when { context.parameters.amount <= 200 };',
    );
    expect(stdout).toContain('~ tool shop.look\n    idempotent: true → false\n');
    expect(stdout).toContain(
      [
        '! cases/shop.json: a huge order',
        '    - deny, decided by huge-order-forbidden',
        '    + require_approval (2 votes of security within 600 s at most once), decided by large-order-asks',
      ].join('\n'),
    );
    expect(stdout).toMatch(
      /policies: 1 added, 1 removed, 2 changed; tools: 0 added, 0 removed, 1 changed; 3 cases come out otherwise\n$/,
    );
  });

  test('ends with 1 where folders differ, if asked to', async () => {
    expect((await aegis('policy', 'diff', before.path, after.path, '--exit-code')).code).toBe(1);
    expect((await aegis('policy', 'diff', before.path, before.path, '--exit-code')).code).toBe(0);
  });

  test('a folder and itself do not differ', async () => {
    const { stdout } = await aegis('policy', 'diff', before.path, before.path);
    expect(stdout).toBe(
      'policies: 0 added, 0 removed, 0 changed; tools: 0 added, 0 removed, 0 changed; 0 cases come out otherwise\n',
    );
  });

  test('--json holds the same', async () => {
    const { stdout } = await aegis('policy', 'diff', before.path, after.path, '--json');
    const answer = JSON.parse(stdout);
    expect(answer.policies.removed).toEqual(['huge-order-forbidden']);
    expect(answer.tools.changed).toEqual([
      { action: 'shop.look', members: [{ name: 'idempotent', from: true, to: false }] },
    ]);
    expect(answer.cases).toHaveLength(3);
    expect(answer.revisions.from).not.toBe(answer.revisions.to);
  });

  test('a folder that does not load is told, and which', async () => {
    const { code, stdout } = await aegis('policy', 'diff', before.path, `${before.path}/tools`);
    expect(code).toBe(1);
    expect(stdout).toContain(`${before.path}/tools`);
  });

  test('needs two folders', async () => {
    for (const args of [[], [before.path], [before.path, after.path, 'third']]) {
      const { code, stderr } = await aegis('policy', 'diff', ...args);
      expect(code).toBe(2);
      expect(stderr).toContain('Usage: aegis policy diff DIR_A DIR_B');
    }
  });
});
