import type { Caller } from '../../core/caller.ts';
import { notFound } from '../../core/common_faults.ts';
import { Fault } from '../../core/fault.ts';
import type { Deps } from '../deps.ts';
import { changeRules } from './change_rules.ts';
import { policiesInTheWay } from './rules_fault.ts';
import { findBaseTool, withoutTool } from './tool_entries.ts';
import { parseToolName, type ToolName } from './tool_names.ts';

function parseExistingName(tool: string, action: string): ToolName {
  try {
    return parseToolName(tool, action);
  } catch {
    throw notFound();
  }
}

/**
 * Takes the tenant's own registration of an operation away: from then on it is an unregistered one. Refused while a
 * policy reads its parameters.
 * @throws Fault `not_found`, `base_tool`, `policy_invalid`, `stale_version`, `unauthenticated`, `unavailable`.
 */
export async function deleteTool(
  deps: Deps,
  caller: Caller,
  tool: string,
  action: string,
  expectedRevision: string | undefined,
): Promise<void> {
  const name = parseExistingName(tool, action);
  await changeRules(deps, caller, {
    expectedRevision,
    note: null,
    apply: (rules) => {
      if (findBaseTool(rules, name) !== undefined) {
        throw new Fault(
          'base_tool',
          'the tool is of the base set, which the policy folder holds. It can be tightened with `PUT`, not deleted',
        );
      }
      const others = withoutTool(rules, name);
      if (others.tools.length === rules.tools.length) throw notFound();
      return others;
    },
    refuse: policiesInTheWay,
  });
}
