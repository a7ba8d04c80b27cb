import { SOURCE_TRUSTS, TIERS } from '../core/action.ts';
import { EXEC_ASKS, EXEC_FALLBACKS, EXEC_SECURITIES } from '../core/exec_approvals.ts';
import { type ApproverAction, PERMISSIONS } from '../core/policy.ts';
import { NAMESPACE, type SchemaJson, type Type, type TypeAndId } from './cedar.ts';
import { EMPTY_RECORD, type RecordShape, toCedarType } from './cedar_shape.ts';
import { listVariants } from './facts_by.ts';
import {
  type MarkedParameter,
  type Operation,
  UNREGISTERED_ACTION,
  unregisteredOperation,
} from './operation.ts';
import { COMMAND_GROUP } from './tool_facts.ts';

/** The Cedar action of the second call: an ask that permits made, which base forbids may turn into a deny. */
export const ASK_ACTION = 'ask';
/** What only the second call knows. */
export const ASK_FACTS: readonly string[] = ['routable', 'denied_before'];

export const APPROVAL_ACTIONS: readonly ApproverAction[] = ['approve', 'reject', 'edit', 'cancel', 'widen'];
/** Clearing the pause of an agent or of one of its sessions. */
export const RESUME_ACTION = 'resume';

type Attribute = Type<string> & { required?: boolean };

const STRING: Type<string> = { type: 'String' };
const BOOLEAN: Type<string> = { type: 'Boolean' };
const STRINGS: Type<string> = { type: 'Set', element: STRING };

/** A reference to an entity of the service's namespace. */
export function entityUid(type: string, id: string): TypeAndId {
  return { type: `${NAMESPACE}::${type}`, id };
}

/** Cedar's schema of everything a policy can read: the fixed model and the registry. */
export function buildCedarSchema(operations: readonly Operation[]): SchemaJson<string> {
  return {
    [NAMESPACE]: {
      entityTypes: ENTITY_TYPES,
      actions: {
        invoke: {},
        read: { memberOf: [{ id: 'invoke' }] },
        write: { memberOf: [{ id: 'invoke' }] },
        destroy: { memberOf: [{ id: 'invoke' }] },
        [COMMAND_GROUP]: { memberOf: [{ id: 'invoke' }] },
        [UNREGISTERED_ACTION]: operationAction(unregisteredOperation('', '')),
        [ASK_ACTION]: {
          appliesTo: callAppliesTo(NO_PARAMETERS, { routable: BOOLEAN, denied_before: BOOLEAN }),
        },
        ...Object.fromEntries(
          operations.map((operation) => [operation.actionId, operationAction(operation)]),
        ),
        ...Object.fromEntries(APPROVAL_ACTIONS.map((action) => [action, { appliesTo: APPROVAL_APPLIES_TO }])),
        [RESUME_ACTION]: { appliesTo: { ...APPROVAL_APPLIES_TO, resourceTypes: ['Session', 'Agent'] } },
      },
    },
  };
}

/** Every Cedar action that an operation is in for some of its calls, sorted. */
export function actionGroupsOfAll({ variants }: Operation): string[] {
  return [...new Set(listVariants(variants).flatMap(({ groups }) => groups))].toSorted();
}

const ENTITY_TYPES = {
  Group: {},
  Tool: {},
  Trust: { enum: [...SOURCE_TRUSTS] },
  Tier: { enum: [...TIERS] },
  Permission: { enum: [...PERMISSIONS] },
  ExecSecurity: { enum: [...EXEC_SECURITIES] },
  ExecAsk: { enum: [...EXEC_ASKS] },
  ExecFallback: { enum: [...EXEC_FALLBACKS] },
  Agent: {
    memberOfTypes: ['Group'],
    shape: record({ risk_tier: STRING, owner: optional(entity('Approver')) }),
  },
  Session: { shape: record({ agent: entity('Agent') }) },
  Resource: { memberOfTypes: ['Tool'], shape: record({ path: STRING }) },
  Approver: { memberOfTypes: ['Group'], shape: record({ roles: STRINGS, as_agent: entity('Agent') }) },
  Approval: {
    shape: record({
      agent: entity('Agent'),
      owner: optional(entity('Approver')),
      editors: { type: 'Set', element: entity('Approver') } as const,
      tool: STRING,
      action: STRING,
      environment: optional(STRING),
      required_groups: STRINGS,
      self_approval_allowed: STRINGS,
      has_own_vote: BOOLEAN,
    }),
  },
};

const APPROVAL_APPLIES_TO = {
  principalTypes: ['Approver'],
  resourceTypes: ['Approval'],
  context: record({}),
};

const TOOL_FACTS = record({
  registered: BOOLEAN,
  mutates_state: BOOLEAN,
  idempotent: BOOLEAN,
  destructive: BOOLEAN,
  requires_approval: BOOLEAN,
  permission: optional(entity('Permission')),
});

const COMMAND_FACTS = record({
  floor: BOOLEAN,
  floor_rules: STRINGS,
  understood: BOOLEAN,
  executables: STRINGS,
  bound: BOOLEAN,
  matched: BOOLEAN,
  allowlisted: BOOLEAN,
  security: optional(entity('ExecSecurity')),
  ask: optional(entity('ExecAsk')),
  ask_fallback: optional(entity('ExecFallback')),
});

const PATH_FACTS = record({ raw: STRING, normal: STRING, inside_workspace: BOOLEAN });
const HOST_FACTS = record({ host: STRING, port: { type: 'Long' } });

interface DeclaredParameters {
  shape: RecordShape;
  paths: readonly MarkedParameter[];
  hosts: readonly MarkedParameter[];
}

const NO_PARAMETERS: DeclaredParameters = { shape: EMPTY_RECORD, paths: [], hosts: [] };

function operationAction(operation: Operation) {
  return {
    memberOf: actionGroupsOfAll(operation).map((id) => ({ id })),
    appliesTo: callAppliesTo(operation),
  };
}

function callAppliesTo({ shape, paths, hosts }: DeclaredParameters, more: Record<string, Attribute> = {}) {
  return {
    principalTypes: ['Agent'],
    resourceTypes: ['Resource'],
    context: record({
      tool: TOOL_FACTS,
      parameters: toCedarType(shape),
      paths: record(marked(paths, PATH_FACTS)),
      hosts: record(marked(hosts, HOST_FACTS)),
      source_trust: entity('Trust'),
      contains_sensitive_data: BOOLEAN,
      tier: entity('Tier'),
      unattended: BOOLEAN,
      paused: BOOLEAN,
      workspace: optional(STRING),
      environment: optional(STRING),
      session_id: optional(STRING),
      command: optional(COMMAND_FACTS),
      now: { type: 'Extension', name: 'datetime' },
      ...more,
    }),
  };
}

function marked(parameters: readonly MarkedParameter[], type: Type<string>): Record<string, Attribute> {
  return Object.fromEntries(
    parameters.map(({ name, isRequired }) => [name, { ...type, required: isRequired }]),
  );
}

function record(attributes: Record<string, Attribute>) {
  return { type: 'Record', attributes } as const;
}

function entity(name: string): Type<string> {
  return { type: 'Entity', name };
}

function optional(type: Type<string>): Attribute {
  return { ...type, required: false };
}
