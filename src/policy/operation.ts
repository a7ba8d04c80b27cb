import { canonicalize } from '../core/canonical_json.ts';
import { sha256Hex } from '../core/digest.ts';
import type { JsonObject } from '../core/json.ts';
import type { RecordShape } from './cedar_shape.ts';
import type { ParameterChecker } from './parameter_checker.ts';
import type { ToolRegistration } from './tool_registration.ts';

/** What policy knows of an operation, under the names that policies read in `context.tool`. */
export interface ToolFacts {
  registered: boolean;
  mutates_state: boolean;
  idempotent: boolean;
  destructive: boolean;
  requires_approval: boolean;
}

/** A tool's operation, ready to be judged. `tool` and `action` are normal forms. */
export interface Operation {
  /** Id of its Cedar action. */
  actionId: string;
  /** Cedar actions it is in: `invoke` and what its facts say. */
  actionGroups: readonly string[];
  tool: string;
  action: string;
  facts: ToolFacts;
  shape: RecordShape;
  checkParameters: ParameterChecker;
  commandParameter: string | null;
  argvParameter: string | null;
  /** SHA-256 over everything registered of it but its aliases. */
  factsHash: string;
}

/** The Cedar action of what nobody registered. */
export const UNREGISTERED_ACTION = 'unregistered';

/** What nobody registered might do anything. */
export const UNREGISTERED_FACTS: ToolFacts = {
  registered: false,
  mutates_state: true,
  idempotent: false,
  destructive: true,
  requires_approval: true,
};

/**
 * The id of an operation's Cedar action: both normal forms joined by a full stop, `%` and `.` inside either
 * escaped, so that different operations never share one and none is the name of a group.
 */
export function computeActionId(tool: string, action: string): string {
  return `${escapePart(tool)}.${escapePart(action)}`;
}

/** The action groups that facts put an operation in. */
export function actionGroupsOf(facts: ToolFacts): string[] {
  const groups = facts.mutates_state ? ['write'] : ['read'];
  return facts.destructive ? [...groups, 'destroy', 'invoke'] : [...groups, 'invoke'];
}

/** The facts of a registration as policies see them. */
export function factsOf(registration: ToolRegistration): ToolFacts {
  const { mutates_state, idempotent, destructive, requires_approval } = registration;
  return { registered: true, mutates_state, idempotent, destructive, requires_approval };
}

/** A registration by its normal names and without its aliases: what an approval is bound to. */
export function boundFacts(registration: ToolRegistration, tool: string, action: string): JsonObject {
  const { aliases: _, ...facts } = registration;
  return { ...facts, tool, action };
}

/** SHA-256 of the canonical form of facts. */
export function computeFactsHash(facts: JsonObject): string {
  return sha256Hex(canonicalize(facts));
}

function escapePart(part: string): string {
  return part.replaceAll('%', '%25').replaceAll('.', '%2E');
}
