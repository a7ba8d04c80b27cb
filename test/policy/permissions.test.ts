import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PERMISSIONS, type Permission } from '../../src/core/policy.ts';
import type { ToolPermission } from '../../src/core/rules.ts';
import {
  createPermissionFinder,
  findPermissionFaults,
  matchesPattern,
} from '../../src/policy/permissions.ts';
import { buildPolicySet } from './policy_sets.ts';
import { registration, request } from './support.ts';

const ID = 'github.merge';

function permissionOf(
  items: [pattern: string, permission: Permission][],
  registered: Permission | null = null,
) {
  const permissions = items.map(([pattern, permission]) => ({ pattern, permission }));
  return createPermissionFinder(permissions)(ID, registered);
}

describe('which permission holds', () => {
  test.each<[string, [string, Permission][], Permission | null, Permission | null]>([
    ['none without a word on it', [['gitlab.merge', 'deny']], null, null],
    [
      'an exact name over a glob',
      [
        [ID, 'allow'],
        ['github.*', 'deny'],
      ],
      null,
      'allow',
    ],
    [
      'an exact name over a longer glob',
      [
        [ID, 'ask'],
        ['github.merge*', 'deny'],
      ],
      null,
      'ask',
    ],
    [
      'the longer glob over the shorter',
      [
        ['github.*', 'deny'],
        ['github.me*', 'ask'],
      ],
      null,
      'ask',
    ],
    [
      'the stricter of equally long globs',
      [
        ['github.m*', 'ask'],
        ['github.*e', 'deny'],
      ],
      null,
      'deny',
    ],
    [
      'the stricter of equal names',
      [
        [ID, 'allow'],
        [ID, 'ask'],
      ],
      null,
      'ask',
    ],
    ['no permission where a glob allows', [['github.*', 'allow']], null, null],
    [
      'no permission where a longer glob lifts a shorter',
      [
        ['*', 'deny'],
        ['github.*', 'allow'],
      ],
      null,
      null,
    ],
    ["the registration's own over a glob", [['github.*', 'deny']], 'allow', 'allow'],
    ["the stricter of the registration's own and an exact name", [[ID, 'allow']], 'deny', 'deny'],
    ['the stricter the other way round', [[ID, 'deny']], 'allow', 'deny'],
  ])('%s', (_, items, registered, expected) => {
    expect(permissionOf(items, registered)).toBe(expected);
    expect(permissionOf(items.toReversed(), registered)).toBe(expected);
  });

  test('of globs alone it is never `allow`, and never looser than the longest that covers the name', () => {
    const glob = fc.constantFrom('*', 'git*', 'github.*', '*merge', 'git*.m*', 'gitlab.*', 'github.*merge');
    const item = fc.record({ pattern: glob, permission: fc.constantFrom(...PERMISSIONS) });
    fc.assert(
      fc.property(fc.array(item, { maxLength: 6 }), (permissions: ToolPermission[]) => {
        const found = createPermissionFinder(permissions)(ID, null);
        const covering = permissions.filter(({ pattern }) => matchesPattern(pattern, ID));
        const longest = Math.max(...covering.map(({ pattern }) => pattern.length));
        const words = covering
          .filter(({ pattern }) => pattern.length === longest)
          .map((one) => one.permission);
        const strictest = PERMISSIONS.find((permission) => words.includes(permission)) ?? 'allow';

        expect(found).toBe(strictest === 'allow' ? null : strictest);
      }),
    );
  });

  test('does not depend on the order in which permissions stand', () => {
    const pattern = fc.constantFrom(ID, '*', 'github.*', 'git*', '*.merge', 'git*.merge');
    const items = fc.array(fc.record({ pattern, permission: fc.constantFrom(...PERMISSIONS) }), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(items, fc.constantFrom(null, ...PERMISSIONS), (permissions, registered) => {
        const find = createPermissionFinder(permissions);
        const turned = createPermissionFinder(permissions.toReversed());

        expect(turned(ID, registered)).toBe(find(ID, registered));
      }),
    );
  });
});

describe('of an action with aliases', () => {
  const find = (items: [string, Permission][], registered: Permission | null = null) =>
    createPermissionFinder(items.map(([pattern, permission]) => ({ pattern, permission })))(
      'deploy.release',
      registered,
      ['ship.it', 'push.out'],
    );

  test.each<[string, [string, Permission][], Permission | null, Permission | null]>([
    ['an exact deny of an alias holds', [['push.out', 'deny']], null, 'deny'],
    ['a glob over an alias holds', [['ship.*', 'ask']], null, 'ask'],
    [
      'an exact allow of the name lifts no deny of an alias',
      [
        ['deploy.release', 'allow'],
        ['ship.*', 'deny'],
      ],
      null,
      'deny',
    ],
    ["the registration's own allow lifts no deny of an alias", [['ship.it', 'deny']], 'allow', 'deny'],
    [
      'the strictest over all names holds',
      [
        ['deploy.*', 'ask'],
        ['ship.*', 'ask'],
        ['push.out', 'deny'],
      ],
      null,
      'deny',
    ],
    [
      'a deny of the name stays beside milder words on aliases',
      [
        ['deploy.release', 'deny'],
        ['ship.it', 'ask'],
        ['push.out', 'allow'],
      ],
      null,
      'deny',
    ],
    [
      "an alias's exact allow lifts the globs over that alias",
      [
        ['ship.*', 'deny'],
        ['ship.it', 'allow'],
      ],
      null,
      null,
    ],
    ['an allow of an alias allows nothing', [['ship.it', 'allow']], null, null],
    ['an allow of the name stays without a word on aliases', [['deploy.release', 'allow']], null, 'allow'],
    ['a word on another name means nothing', [['ship.other', 'deny']], null, null],
  ])('%s', (_, items, registered, expected) => {
    expect(find(items, registered)).toBe(expected);
    expect(find(items.toReversed(), registered)).toBe(expected);
  });

  test('the strictest of what is said of each name by itself holds, whatever is said', () => {
    const names = [ID, 'ship.it', 'git.out'];
    const pattern = fc.constantFrom(...names, '*', 'github.*', 'git*', 'ship.*', '*.it', 'git.*');
    const items = fc.array(fc.record({ pattern, permission: fc.constantFrom(...PERMISSIONS) }), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(items, fc.constantFrom(null, ...PERMISSIONS), (permissions, registered) => {
        const finder = createPermissionFinder(permissions);
        const [named = null, ...aliased] = names.map((name) => finder(name, name === ID ? registered : null));
        const tightening = PERMISSIONS.find((one) => one !== 'allow' && [named, ...aliased].includes(one));

        expect(finder(ID, registered, names.slice(1))).toBe(tightening ?? named);
      }),
    );
  });
});

describe('a pattern', () => {
  test('covers what the same pattern covers as a regular expression', () => {
    const letters = fc
      .array(fc.constantFrom('a', 'b', '.', '*'), { maxLength: 8 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(letters, letters, (pattern, text) => {
        const expression = pattern
          .split('*')
          .map((part) => part.replaceAll('.', '\\.'))
          .join('[^]*');

        expect(matchesPattern(pattern, text)).toBe(new RegExp(`^${expression}$`).test(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([['github.*'], ['*'], ['*.merge'], ['a%2Eb.c'], ['two words.run it'], ['git*.m*'], ['café.*']])(
    '`%s` is taken',
    (pattern) => {
      expect(findPermissionFaults([{ pattern, permission: 'deny' }])).toEqual([]);
    },
  );

  test.each([
    ['GitHub.*'],
    ['github'],
    ['a.b.c'],
    ['a.b.*'],
    [' github.*'],
    ['git%68ub.*'],
    [''],
    ['.'],
    ['a.'],
    ['x\u200b.*'],
  ])('`%s`, which would cover nothing, is refused at its place', (pattern) => {
    const fine: ToolPermission = { pattern: '*', permission: 'ask' };

    expect(findPermissionFaults([fine, { pattern, permission: 'deny' }])).toMatchObject([
      { pointer: '/items/1/pattern' },
    ]);
  });

  test('too many are refused', () => {
    const items = Array.from({ length: 1_001 }, (_, index) => ({
      pattern: `t.a${index}`,
      permission: 'deny' as const,
    }));

    expect(findPermissionFaults(items.slice(1))).toEqual([]);
    expect(findPermissionFaults(items)).toMatchObject([{ pointer: '/items' }]);
  });
});

describe('in a policy set', () => {
  const scope = '(principal is Aegis::Agent, action in Aegis::Action::"invoke", resource)';
  const policies = {
    no: `@id("no") forbid ${scope} when { context.tool has permission && context.tool.permission == Aegis::Permission::"deny" };`,
    ok: `@id("ok") permit ${scope} when { context.tool.registered && !(context.tool has permission) };`,
  };
  const tools = [registration('t', 'a'), registration('t', 'b', { permission: 'deny' })];
  const set = buildPolicySet({ policies, tools, permissions: [{ pattern: 'github.*', permission: 'deny' }] });

  test('a permission holds for registered names, their aliases and names that nobody registered', () => {
    expect(set.decide(request('t', 'a', {})).determiningPolicies).toEqual(['ok']);
    expect(set.decide(request('T', ' b ', {})).determiningPolicies).toEqual(['no']);
    expect(set.decide(request('GitHub', 'merge', {})).determiningPolicies).toEqual(['no']);
    expect(set.decide(request('gitlab', 'merge', {})).determiningPolicies).toEqual([]);
  });

  test.each([['ship.it'], ['ship.*'], ['*.it']])(
    'a deny of the alias `%s` denies by every name',
    (pattern) => {
      const release = registration('deploy', 'release', { permission: 'allow', aliases: ['Ship/It'] });
      const allowed = { ...policies, ok: `@id("ok") permit ${scope};` };
      const build = (permissions: ToolPermission[]) =>
        buildPolicySet({ policies: allowed, tools: [release], permissions });
      const [denying, silent] = [build([{ pattern, permission: 'deny' }]), build([])];

      for (const [tool, action] of [
        ['deploy', 'release'],
        ['ship', 'it'],
        [' SHIP', '%69t'],
      ] as const) {
        expect(denying.decide(request(tool, action, {}))).toMatchObject({
          decision: 'deny',
          determiningPolicies: ['no'],
        });
        expect(silent.decide(request(tool, action, {}))).toMatchObject({ decision: 'allow' });
      }
      expect(denying.revision).not.toBe(silent.revision);
    },
  );

  test('a bad pattern refuses the set', () => {
    const permissions = [{ pattern: 'GitHub.*', permission: 'deny' as const }];

    expect(() => buildPolicySet({ policies, tools, permissions })).toThrow(/covers no name in normal form/);
  });

  test('a misspelt permission in a policy refuses the set', () => {
    const typo = { no: policies.no.replace('"deny"', '"denied"') };

    expect(() => buildPolicySet({ policies: typo, tools })).toThrow(/denied/);
  });
});
