import { canonicalize } from '../core/canonical_json.ts';
import type { CommandParameters } from '../core/command_call.ts';
import { sha256Hex } from '../core/digest.ts';
import type { JsonObject } from '../core/json.ts';
import type { Permission } from '../core/policy.ts';
import type { ReviewFacts } from '../core/review.ts';
import type { ToolRegistration } from '../core/tool_registration.ts';
import { EMPTY_RECORD, type RecordShape } from './cedar_shape.ts';
import type { Variants } from './facts_by.ts';
import type { ParameterChecker } from './parameter_checker.ts';
import { actionGroupsOf, UNREGISTERED_FACTS } from './tool_facts.ts';

/** A parameter that policy is told more of than its value. */
export interface MarkedParameter {
  name: string;
  /** Whether every call has it; else what is told of it is optional. */
  isRequired: boolean;
}

/** A tool's operation, ready to be judged. `tool` and `action` are normal forms. */
export interface Operation {
  /** Id of its Cedar action. */
  actionId: string;
  tool: string;
  action: string;
  /** What it does, by the parameter that this depends on. */
  variants: Variants;
  permission: Permission | null;
  shape: RecordShape;
  paths: readonly MarkedParameter[];
  hosts: readonly MarkedParameter[];
  workspaceRoot: string | null;
  secretParameters: readonly string[];
  checkParameters: ParameterChecker;
  /** Of a tool that runs commands. */
  command: CommandParameters | null;
  /** What an approver's view of a call needs to know of it, but for the root of its paths. */
  reviewFacts: Omit<ReviewFacts, 'workspaceRoot'>;
  /** SHA-256 over everything registered of it but its aliases. */
  factsHash: string;
}

/** The Cedar action of what nobody registered. */
export const UNREGISTERED_ACTION = 'unregistered';

const UNREGISTERED_VARIANTS: Variants = {
  parameter: null,
  byValue: new Map(),
  otherwise: {
    sliceId: UNREGISTERED_ACTION,
    groups: actionGroupsOf(UNREGISTERED_FACTS, false),
    facts: UNREGISTERED_FACTS,
  },
};
const UNREGISTERED_FACTS_HASH = computeFactsHash({ ...UNREGISTERED_FACTS });

/**
 * The id of an operation's Cedar action: both normal forms joined by a full stop, `%` and `.` inside either
 * escaped, so that different operations never share one and none is the name of a group.
 */
export function computeActionId(tool: string, action: string): string {
  return `${escapePart(tool)}.${escapePart(action)}`;
}

/** What a name stands for that nobody registered; a permission may name it all the same. */
export function unregisteredOperation(
  tool: string,
  action: string,
  permission: Permission | null = null,
): Operation {
  return {
    actionId: UNREGISTERED_ACTION,
    tool,
    action,
    variants: UNREGISTERED_VARIANTS,
    permission,
    shape: EMPTY_RECORD,
    paths: [],
    hosts: [],
    workspaceRoot: null,
    secretParameters: [],
    checkParameters: acceptAny,
    command: null,
    reviewFacts: { registered: false, command: null, pathParameters: [], hostParameters: [] },
    factsHash: UNREGISTERED_FACTS_HASH,
  };
}

/** Of a tool registered without a schema: its parameters are neither checked nor shown to policy. */
export function acceptAny(): undefined {
  return undefined;
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
