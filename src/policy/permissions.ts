import { normalizeIdentifier } from '../core/identifiers.ts';
import { formatPointer } from '../core/json_rules.ts';
import { PERMISSIONS, type Permission } from '../core/policy.ts';
import type { ToolPermission } from '../core/rules.ts';
import type { RegistrationFault } from './registration_fault.ts';

/**
 * Says which explicit permission holds for an action, given its registration's own and the ids of its aliases; null
 * when none does.
 */
export type PermissionFinder = (
  actionId: string,
  registered: Permission | null,
  aliasIds?: readonly string[],
) => Permission | null;

/** Patterns cost time at every call of a name that nobody registered. */
export const PATTERNS_MAX = 1_000;

/**
 * Orders explicit permissions. Exact names beat globs, longer globs beat shorter ones, the stricter of two that are
 * equal wins; a registration's own word is one of its exact name. A glob only ever tightens: its `allow` lifts the
 * shorter globs it covers, and leaves a name without a permission. Of an action's names each is looked at by itself and
 * the strictest wins; an alias only ever tightens too: its `allow` lifts the globs over that alias, and nothing else.
 */
export function createPermissionFinder(permissions: readonly ToolPermission[]): PermissionFinder {
  const exact = new Map<string, Permission>();
  for (const { pattern, permission } of permissions) {
    if (!isGlob(pattern)) exact.set(pattern, stricterOf(exact.get(pattern) ?? null, permission));
  }
  const globs = permissions
    .filter(({ pattern }) => isGlob(pattern))
    .toSorted((a, b) => b.pattern.length - a.pattern.length || rank(a.permission) - rank(b.permission));
  const findOf = (actionId: string, registered: Permission | null): Permission | null => {
    const named = exact.get(actionId);
    if (named !== undefined) return stricterOf(registered, named);
    if (registered !== null) return registered;
    const covering = globs.find(({ pattern }) => matchesPattern(pattern, actionId));
    return covering === undefined || covering.permission === 'allow' ? null : covering.permission;
  };
  return (actionId, registered, aliasIds = []) =>
    aliasIds.reduce(
      (strictest, aliasId) => {
        const found = findOf(aliasId, null);
        return found === null || found === 'allow' ? strictest : stricterOf(strictest, found);
      },
      findOf(actionId, registered),
    );
}

/** The stricter of a permission and of one that may be absent. */
function stricterOf(one: Permission | null, other: Permission): Permission {
  return one !== null && rank(one) < rank(other) ? one : other;
}

/**
 * Whether a pattern covers an action id; `*` stands for any text, and is the only wildcard. Each part is looked for at
 * its first place after the part before it, the last at the end: no text is looked at twice.
 */
export function matchesPattern(pattern: string, actionId: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return actionId === first;
  const end = actionId.length - last.length;
  if (!actionId.startsWith(first) || end < first.length || !actionId.endsWith(last)) return false;
  let from = first.length;
  for (const part of others) {
    const found = actionId.indexOf(part, from);
    if (found === -1 || found + part.length > end) return false;
    from = found + part.length;
  }
  return true;
}

/** What is wrong with patterns: one that no action id could have would seem to forbid, and would not. */
export function findPermissionFaults(permissions: readonly ToolPermission[]): RegistrationFault[] {
  if (permissions.length > PATTERNS_MAX) {
    const message = `there are ${permissions.length} permissions`;
    return [{ pointer: '/items', message, help: `At most ${PATTERNS_MAX} are allowed; use globs.` }];
  }
  return permissions.flatMap(({ pattern }, index) => {
    const wrong = findPatternFault(pattern);
    return wrong === undefined ? [] : [{ pointer: formatPointer(['items', index, 'pattern']), ...wrong }];
  });
}

function findPatternFault(pattern: string): { message: string; help: string } | undefined {
  const stops = pattern.split('.').length - 1;
  if (stops > 1 || (stops === 0 && !isGlob(pattern))) {
    const help = 'Write "tool.action", a full stop inside either name as %2E; `*` stands for any text.';
    return { message: 'the pattern is no tool and action', help };
  }
  const isNormal = pattern.split(/[.*]/).every((part) => part === '' || isNormalPart(part));
  const isWhole = pattern.split('.').every((part) => part.trim() === part && part !== '');
  if (!isNormal || !isWhole) {
    const help = 'Write names in their normal form: decoded, trimmed, lower case.';
    return { message: 'the pattern covers no name in normal form', help };
  }
  return undefined;
}

/** Whether a piece of a pattern can stand in an action id. Letters around it keep its space from being trimmed. */
function isNormalPart(part: string): boolean {
  const plain = part.replaceAll('%2E', '.');
  const normalized = normalizeIdentifier(`a${plain}a`);
  return normalized.kind === 'normal' && normalized.normal === `a${plain}a`;
}

function isGlob(pattern: string): boolean {
  return pattern.includes('*');
}

function rank(permission: Permission): number {
  return PERMISSIONS.indexOf(permission);
}
