import { SOURCE_TRUSTS } from '../core/action.ts';
import type { ApproverAction } from '../core/policy.ts';
import { NAMESPACE, type SchemaJson, type Type, type TypeAndId } from './cedar.ts';
import { EMPTY_RECORD, type RecordShape, toCedarType } from './cedar_shape.ts';
import { actionGroupsOf, type Operation, UNREGISTERED_ACTION, UNREGISTERED_FACTS } from './operation.ts';

/** The Cedar action of the second call: an ask that permits made, which base forbids may turn into a deny. */
export const ASK_ACTION = 'ask';

const APPROVER_ACTIONS: readonly ApproverAction[] = ['approve', 'reject', 'edit', 'cancel'];

const STRING: Type<string> = { type: 'String' };
const BOOLEAN: Type<string> = { type: 'Boolean' };
const STRINGS: Type<string> = { type: 'Set', element: STRING };

/** A reference to an entity of the service's namespace. */
export function entityUid(type: string, id: string): TypeAndId {
  return { type: `${NAMESPACE}::${type}`, id };
}

/** Cedar's schema of everything a policy can read: the fixed model and the registry. */
export function buildCedarSchema(operations: readonly Operation[]): SchemaJson<string> {
  const unregistered = { actionGroups: actionGroupsOf(UNREGISTERED_FACTS), shape: EMPTY_RECORD };
  return {
    [NAMESPACE]: {
      entityTypes: ENTITY_TYPES,
      actions: {
        invoke: {},
        read: { memberOf: [{ id: 'invoke' }] },
        write: { memberOf: [{ id: 'invoke' }] },
        destroy: { memberOf: [{ id: 'invoke' }] },
        [UNREGISTERED_ACTION]: operationAction(unregistered),
        [ASK_ACTION]: { appliesTo: callAppliesTo(EMPTY_RECORD) },
        ...Object.fromEntries(
          operations.map((operation) => [operation.actionId, operationAction(operation)]),
        ),
        ...Object.fromEntries(APPROVER_ACTIONS.map((action) => [action, { appliesTo: APPROVAL_APPLIES_TO }])),
      },
    },
  };
}

const ENTITY_TYPES = {
  Group: {},
  Tool: {},
  Trust: { enum: [...SOURCE_TRUSTS] },
  Agent: { memberOfTypes: ['Group'], shape: record({ owner: optional(entity('Approver')) }) },
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
});

function operationAction(operation: { actionGroups: readonly string[]; shape: RecordShape }) {
  return {
    memberOf: operation.actionGroups.map((id) => ({ id })),
    appliesTo: callAppliesTo(operation.shape),
  };
}

function callAppliesTo(shape: RecordShape) {
  return {
    principalTypes: ['Agent'],
    resourceTypes: ['Resource'],
    context: record({
      tool: TOOL_FACTS,
      parameters: toCedarType(shape),
      source_trust: entity('Trust'),
      contains_sensitive_data: BOOLEAN,
      unattended: BOOLEAN,
      workspace: optional(STRING),
      environment: optional(STRING),
      session_id: optional(STRING),
      now: { type: 'Extension', name: 'datetime' },
    }),
  };
}

function record(attributes: Record<string, Type<string> & { required?: boolean }>) {
  return { type: 'Record', attributes } as const;
}

function entity(name: string): Type<string> {
  return { type: 'Entity', name };
}

function optional(type: Type<string>): Type<string> & { required: boolean } {
  return { ...type, required: false };
}
