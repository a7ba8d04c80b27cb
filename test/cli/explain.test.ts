import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aegis, type Folder, makeShop } from './support.ts';

let shop: Folder;
beforeAll(() => {
  shop = makeShop();
});
afterAll(() => shop.remove());

function explain(request: unknown, ...args: string[]) {
  const text = typeof request === 'string' ? request : JSON.stringify(request);
  return aegis('policy', 'explain', shop.path, '--request', shop.write('request.json', text), ...args);
}

const order = (amount: number) => ({
  tool_call: { tool: 'shop', action: 'order', mutates_state: true, parameters: { amount } },
});

describe('aegis policy explain', () => {
  test('tells which policies decided, which nearly did, and where each demand comes from', async () => {
    const { code, stdout } = await explain({ ...order(500), agent: 'bot', groups: ['buyers'] });
    expect(code).toBe(0);
    const [decided = '', nearly = ''] = stdout.split(
      'Policies whose scope matches and whose conditions do not',
    );
    expect(decided).toMatch(/^require_approval\n/);
    expect(decided).toContain('reason    large orders need approval');
    expect(decided).toContain('large-order-asks (ask, shop.cedar:6)');
    expect(decided).toContain('@votes("2")');
    expect(nearly).toContain('huge-order-forbidden (forbid, zz.cedar:1)');
    expect(nearly).toContain('small-order-allowed (permit, shop.cedar:1)');
    expect(nearly).toMatch(/votes +2 +by large-order-asks/);
    expect(nearly).toMatch(/group +finance +by large-order-asks/);
    expect(nearly).toMatch(/ttl_seconds +600 +by large-order-asks/);
    expect(nearly).toMatch(/max_scope +once +by default/);
    expect(nearly).toMatch(/self_approval +none +by default/);
    expect(nearly).toContain('"amount": 500');
  });

  test('--json has the members of the endpoint, and where demands come from', async () => {
    const { code, stdout } = await explain(order(20_000), '--json');
    expect(code).toBe(0);
    const answer = JSON.parse(stdout);
    expect(answer).toMatchObject({
      decision: 'deny',
      determining_policies: ['huge-order-forbidden'],
      denial: null,
      demands: null,
      resolved: { tool: 'shop', action: 'order' },
    });
    expect(answer.contributions[0]).toEqual({
      policy_id: 'huge-order-forbidden',
      effect: 'forbid',
      applied: true,
      annotations: expect.objectContaining({ reason: 'nobody orders that much' }),
    });
    expect(answer.facts).toBeTypeOf('object');
  });

  test('reads a request that was sent as it is', async () => {
    const sent = { ...order(1), action_hash: 'f'.repeat(64), dry_run: true, context: { session_id: 's-1' } };
    expect((await explain(sent)).stdout).toMatch(/^allow\n/);
  });

  test.each<[what: string, request: unknown, why: string]>([
    ['no JSON', '{"tool_call":', 'syntax'],
    ['a member twice', '{"agent":"a","agent":"b"}', 'duplicate_member'],
    ['no call', {}, '`/tool_call`'],
    ['an unknown member', { ...order(1), agnet: 'x' }, 'agnet'],
    ['a tool without a name', { tool_call: { ...order(1).tool_call, tool: '' } }, '`/tool_call/tool`'],
    ['an agent that is no name', { ...order(1), agent: 'a b' }, '`/agent`'],
    ['an escape', { ...order(1), '\u001b[2J': 1 }, 'is no request'],
  ])('%s is refused in one line', async (_, request, why) => {
    const { code, stdout, stderr } = await explain(request);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toContain(why);
    expect(stderr).not.toContain('\u001b');
  });

  test('a request that is missing, a folder or endless is refused in one line', async () => {
    for (const args of [
      [],
      ['--request', `${shop.path}/none`],
      ['--request', shop.path],
      ['--request', '/dev/zero'],
    ]) {
      const { code, stdout, stderr } = await aegis('policy', 'explain', shop.path, ...args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr.trimEnd().split('\n'), stderr).toHaveLength(1);
    }
  });
});
