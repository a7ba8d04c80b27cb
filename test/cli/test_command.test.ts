import { afterEach, describe, expect, test } from 'vitest';
import { aegis, CASES, type Folder, makeShop } from './support.ts';

const folders: Folder[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

function shopWith(cases: unknown): Folder {
  const folder = makeShop();
  folders.push(folder);
  folder.write('cases/shop.json', typeof cases === 'string' ? cases : JSON.stringify(cases));
  return folder;
}

const [small, large] = CASES;

describe('aegis policy test', () => {
  test('passes when every case comes out as it says', async () => {
    const { path } = shopWith({ cases: CASES });
    expect(await aegis('policy', 'test', path)).toEqual({
      code: 0,
      stdout: '4 cases: 4 passed, 0 failed\n',
      stderr: '',
    });
    const json = await aegis('policy', 'test', path, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      passed: true,
      total: 4,
      failed: [],
      unknown_policies: [],
    });
  });

  test('shows of a failing case what was expected and what came, with policies and demands', async () => {
    const wrong = {
      ...large,
      decision: 'allow',
      determining_policies: ['small-order-allowed'],
      requirements: undefined,
    };
    const { path } = shopWith({ cases: [...CASES, { ...wrong, twin_of: undefined, name: 'wrong' }] });
    const { code, stdout } = await aegis('policy', 'test', path);
    expect(code).toBe(1);
    expect(stdout).toBe(
      [
        'failed: cases/shop.json: wrong',
        '    expected  allow, decided by small-order-allowed',
        '    actual    require_approval (2 votes of finance), decided by large-order-asks',
        '    reason    large orders need approval',
        '5 cases: 4 passed, 1 failed',
        '',
      ].join('\n'),
    );
    const json = JSON.parse((await aegis('policy', 'test', path, '--json')).stdout);
    expect(json).toMatchObject({
      passed: false,
      failed: [
        {
          file: 'cases/shop.json',
          name: 'wrong',
          expected: { decision: 'allow', requirements: null },
          actual: { decision: 'require_approval', determining_policies: ['large-order-asks'] },
        },
      ],
    });
  });

  test.each<[what: string, changed: object]>([
    ['other votes', { requirements: { votes: 1, groups: ['finance'], signature: 'none' } }],
    ['other groups', { requirements: { votes: 2, groups: ['security'], signature: 'none' } }],
    ['no requirements', { requirements: undefined }],
    ['another deciding policy', { determining_policies: ['small-order-allowed'] }],
    ['another life', { ttl_seconds: 601 }],
    ['a wider scope', { max_scope: 'session' }],
    ['a twin that decides it', { twin_of: 'large-order-asks' }],
    ['a denial by somebody', { decision: 'deny', denied_by: 'pause' }],
  ])('an ask is not taken for one with %s', async (_, changed) => {
    const { path } = shopWith({ cases: [{ ...large, ...changed }] });
    const { code, stdout } = await aegis('policy', 'test', path, '--no-coverage');
    expect(code).toBe(1);
    expect(stdout).toContain('1 case: 0 passed, 1 failed');
  });

  test('an ask with the life and scope it says passes', async () => {
    const { path } = shopWith({
      cases: [{ ...large, ttl_seconds: 600, max_scope: 'once', self_approval: [] }],
    });
    expect((await aegis('policy', 'test', path, '--no-coverage')).code).toBe(0);
  });

  test('a deny because of wrong parameters does not pass for one by nobody', async () => {
    const call = { tool: 'shop', action: 'order', mutates_state: true, parameters: { amont: 1 } };
    const one = { name: 'a slip', tool_call: call, decision: 'deny', determining_policies: [] };
    expect((await aegis('policy', 'test', shopWith({ cases: [one] }).path, '--no-coverage')).code).toBe(1);
    const told = { ...one, denied_by: 'parameters' };
    expect((await aegis('policy', 'test', shopWith({ cases: [told] }).path, '--no-coverage')).code).toBe(0);
  });

  test('a policy without a case that it decides, or without a twin, fails the run and is named', async () => {
    const { path } = shopWith({ cases: [small, large] });
    const { code, stdout } = await aegis('policy', 'test', path);
    expect(code).toBe(1);
    expect(stdout).toBe(
      [
        'policies that no case shows deciding:',
        '    huge-order-forbidden',
        'policies without a twin that they must not decide:',
        '    huge-order-forbidden',
        '2 cases: 2 passed, 0 failed',
        '',
      ].join('\n'),
    );
    expect(await aegis('policy', 'test', path, '--no-coverage')).toMatchObject({ code: 0 });
  });

  test('a case that names a policy which is not there fails the run', async () => {
    const { path } = shopWith({ cases: [...CASES, { ...small, name: 'stale', twin_of: 'gone' }] });
    const { code, stdout } = await aegis('policy', 'test', path);
    expect(code).toBe(1);
    expect(stdout).toContain('cases name policies that are not there:\n    gone\n');
  });

  test('a run without cases does not pass', async () => {
    const { path } = shopWith({ cases: [] });
    const { code, stdout } = await aegis('policy', 'test', path, '--no-coverage');
    expect(code).toBe(1);
    expect(stdout).toContain('there is no case in');
  });

  test.each([
    ['no JSON', '{', 'syntax'],
    ['a member twice', '{"cases":[],"cases":[]}', 'duplicate_member'],
    ['an unknown member', { cases: [{ ...small, determinig: [] }] }, 'determinig'],
    ['an unknown context', { cases: [{ ...small, context: { source: 'x' } }] }, '/cases/0/context'],
    ['an unknown decision', { cases: [{ ...small, decision: 'yes' }] }, '/cases/0/decision'],
    ['no name', { cases: [{ ...small, name: undefined }] }, '/cases/0/name'],
    ['a list', [], 'expected object'],
  ])('a case file that is %s is told by place', async (_, text, what) => {
    const { path } = shopWith(text);
    const { code, stdout } = await aegis('policy', 'test', path);
    expect(code).toBe(1);
    expect(stdout).toContain(`${path}/cases/shop.json: `);
    expect(stdout).toContain(what);
  });

  test('a set that does not load is told as by validate', async () => {
    const folder = shopWith({ cases: CASES });
    folder.write('more.cedar', 'permit');
    const { code, stdout } = await aegis('policy', 'test', folder.path);
    expect(code).toBe(1);
    expect(stdout).toBe((await aegis('policy', 'validate', folder.path)).stdout);
  });
});

test('the cases beside the starter set pass', async () => {
  const { code, stdout } = await aegis('policy', 'test', 'policies');
  expect(code, stdout).toBe(0);
});
