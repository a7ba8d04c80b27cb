import type { Caller } from '../../core/caller.ts';
import { Fault, type FaultIssue } from '../../core/fault.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { formatPointer } from '../../core/json_rules.ts';
import type { Rules } from '../../core/rules.ts';
import type { Deps } from '../deps.ts';
import { changeRules } from './change_rules.ts';
import { toolInvalid } from './rules_fault.ts';
import { findBaseTool, findLoosened, listToolEntries, type ToolEntry, withoutTool } from './tool_entries.ts';
import { keyOf, nameOf, parseToolName, type ToolName } from './tool_names.ts';

export interface PutToolInput {
  tool: string;
  action: string;
  /** The members of the registration but its names. */
  registration: JsonObject;
  expectedRevision: string | undefined;
}

/** Places of texts with a NUL, which no text of the database can have. */
function findNul(value: JsonValue, path: readonly string[]): FaultIssue[] {
  if (typeof value === 'string') {
    const issue = { pointer: formatPointer(path), reason: 'must not have a NUL character' };
    return value.includes('\0') ? [issue] : [];
  }
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...findNul(name, path),
    ...findNul(member, [...path, name]),
  ]);
}

function assertStorable(registration: JsonObject): void {
  const issues = findNul(registration, []);
  if (issues.length === 0) return;
  throw new Fault('tool_invalid', 'the registration was refused. Correct what `errors` names', { issues });
}

/** @throws Fault `base_tool` for a registration that would take from what the base set says of the tool. */
function assertTightens(rules: Rules, name: ToolName, registration: JsonObject): void {
  const known = findBaseTool(rules, name);
  const loosened = known === undefined ? [] : findLoosened(known, registration);
  if (loosened.length === 0) return;
  const members = loosened.map((member) => `\`${member}\``).join(', ');
  throw new Fault(
    'base_tool',
    `the tool is of the base set and can only be tightened, and ${members} would not. Leave out what you need not say, and send \`mutates_state\` as the base has it`,
  );
}

/**
 * Registers an operation for the tenant, or replaces its own registration of it. What goes against a policy that is
 * in force is refused, and names that policy.
 * @throws Fault `tool_invalid`, `policy_invalid`, `base_tool`, `stale_version`, `unauthenticated`, `unavailable`.
 */
export async function putTool(
  deps: Deps,
  caller: Caller,
  input: PutToolInput,
): Promise<{ entry: ToolEntry; revision: string }> {
  const name = parseToolName(input.tool, input.action);
  const registration = { ...input.registration, ...name };
  assertStorable(registration);
  const changed = await changeRules(deps, caller, {
    expectedRevision: input.expectedRevision,
    note: null,
    apply: (rules) => {
      assertTightens(rules, name, registration);
      const others = withoutTool(rules, name);
      return { ...others, tools: [...others.tools, registration] };
    },
    refuse: toolInvalid,
  });
  const entry = listToolEntries(changed.rules).find(
    ({ registration: listed }) => keyOf(nameOf(listed)) === keyOf(name),
  );
  if (entry === undefined) throw new Error('a tool just registered is not there');
  return { entry, revision: changed.revision };
}
