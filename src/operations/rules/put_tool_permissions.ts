import type { Caller } from '../../core/caller.ts';
import { Fault, type FaultIssue } from '../../core/fault.ts';
import type { RulesProblem, ToolPermission } from '../../core/rules.ts';
import type { Deps } from '../deps.ts';
import { changeRules } from './change_rules.ts';
import type { ToolPermissions } from './get_tool_permissions.ts';
import { policiesInTheWay } from './rules_fault.ts';

function invalid(issues: FaultIssue[]): Fault {
  return new Fault('invalid_request', 'the permissions were refused. Correct what `errors` names', {
    issues,
  });
}

function assertUnique(items: readonly ToolPermission[]): void {
  const seen = new Set<string>();
  const issues = items.flatMap(({ pattern }, index) => {
    const isRepeated = seen.has(pattern);
    seen.add(pattern);
    return isRepeated ? [{ pointer: `/items/${index}/pattern`, reason: 'is there already' }] : [];
  });
  if (issues.length > 0) throw invalid(issues);
}

function refuse(problems: readonly RulesProblem[]): Fault {
  const own = problems.filter(({ policyId }) => policyId === null);
  if (own.length === 0) return policiesInTheWay(problems);
  return invalid(
    own.map(({ pointer, message, help }) => ({
      pointer: pointer ?? '/items',
      reason: help === null ? message : `${message}. ${help}`,
    })),
  );
}

/**
 * Replaces the tenant's explicit permissions, as a revision like any other change of rules.
 * @throws Fault `invalid_request`, `stale_version`, `unauthenticated`, `unavailable`.
 */
export async function putToolPermissions(
  deps: Deps,
  caller: Caller,
  items: ToolPermission[],
  expectedRevision: string | undefined,
): Promise<ToolPermissions> {
  assertUnique(items);
  const changed = await changeRules(deps, caller, {
    expectedRevision,
    note: null,
    apply: (rules) => ({ ...rules, permissions: items }),
    refuse,
  });
  return { items: changed.rules.permissions, revision: changed.revision };
}
