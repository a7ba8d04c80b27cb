import { SOURCE_TRUSTS, TIERS } from '../core/action.ts';
import { EXEC_ASKS, EXEC_FALLBACKS, EXEC_SECURITIES } from '../core/exec_approvals.ts';
import { type AskStanding, type DecisionRequest, PERMISSIONS } from '../core/policy.ts';
import type { CedarCall, CedarValueJson, EntityJson } from './cedar.ts';
import type { CommandFacts } from './command_facts.ts';
import type { Variant } from './facts_by.ts';
import { ASK_ACTION, entityUid } from './model.ts';
import type { Operation } from './operation.ts';
import type { ParameterFacts } from './parameters.ts';
import { pruneRecord, type Reads } from './reads.ts';

const TRUSTS = entitiesOf('Trust', SOURCE_TRUSTS);
const TIER_ENTITIES = entitiesOf('Tier', TIERS);
const PERMISSION_ENTITIES = entitiesOf('Permission', PERMISSIONS);
const SECURITY_ENTITIES = entitiesOf('ExecSecurity', EXEC_SECURITIES);
const ASK_ENTITIES = entitiesOf('ExecAsk', EXEC_ASKS);
const FALLBACK_ENTITIES = entitiesOf('ExecFallback', EXEC_FALLBACKS);

/** A call whose names were resolved and whose parameters were checked. */
export interface CallFacts {
  request: DecisionRequest;
  operation: Operation;
  variant: Variant;
  parameters: ParameterFacts;
  /** Those of the command that it runs; null for a tool that runs none. */
  command: CommandFacts | null;
}

/**
 * The facts of a call as Cedar reads them, as far as `reads` goes. Of what the call says of its tool nothing is
 * taken: the registry's word is the only one (`mutates_state` of the call is part of the hash alone).
 */
export function buildAgentCall(facts: CallFacts, reads: Reads): CedarCall {
  return buildCall(facts, facts.operation.actionId, facts.variant.groups, buildContext(facts), reads);
}

/** The same call under the action `ask`, with what decides whether it may be put to a person. */
export function buildAskCall(facts: CallFacts, standing: AskStanding, reads: Reads): CedarCall {
  const { routable, deniedBefore } = standing;
  const context = { ...buildContext(facts), routable, denied_before: deniedBefore };
  return buildCall(facts, ASK_ACTION, [], context, reads);
}

/** The entity of a person who decides; principals are compared in lower case. */
export function approverUid(principal: string) {
  return entityUid('Approver', principal.toLowerCase());
}

/** The entity of an agent. */
export function agentUid(principal: string) {
  return entityUid('Agent', principal.toLowerCase());
}

function buildCall(
  { request, operation }: CallFacts,
  actionId: string,
  actionGroups: readonly string[],
  context: CedarCall['context'],
  reads: Reads,
): CedarCall {
  const { agent, toolCall } = request;
  const principal = agentUid(agent.principal);
  const action = entityUid('Action', actionId);
  const path = toolCall.resource ?? '';
  const resource = entityUid('Resource', path);
  const entities: EntityJson[] = [];
  if (reads.principal) {
    const owner = agent.owner === null ? {} : { owner: { __entity: approverUid(agent.owner) } };
    const parents = agent.groups.map((group) => entityUid('Group', group));
    entities.push({ uid: principal, attrs: { risk_tier: agent.riskTier, ...owner }, parents });
  }
  if (reads.action) {
    const parents = actionGroups.map((group) => entityUid('Action', group));
    entities.push({ uid: action, attrs: {}, parents });
  }
  if (reads.resource) {
    entities.push({ uid: resource, attrs: { path }, parents: [entityUid('Tool', operation.tool)] });
  }
  return { principal, action, resource, context: pruneRecord(context, reads.context), entities };
}

function buildContext({ request, operation, variant, parameters, command }: CallFacts): CedarCall['context'] {
  const { context, paused } = request;
  const { permission } = operation;
  const facts: CedarCall['context'] = {
    tool: {
      ...variant.facts,
      ...(permission === null ? {} : { permission: entityOf(PERMISSION_ENTITIES, permission) }),
    },
    ...parameters,
    source_trust: entityOf(TRUSTS, context.source_trust),
    contains_sensitive_data: context.contains_sensitive_data,
    tier: entityOf(TIER_ENTITIES, context.tier),
    unattended: context.unattended,
    paused,
    now: { __extn: { fn: 'datetime', arg: context.now } },
  };
  if (command !== null) facts.command = describeCommand(command);
  if (context.workspace !== null) facts.workspace = context.workspace;
  if (context.environment !== null) facts.environment = context.environment;
  if (context.session_id !== null) facts.session_id = context.session_id;
  return facts;
}

function describeCommand({ security, ask, ask_fallback, ...facts }: CommandFacts): CedarValueJson {
  return {
    ...facts,
    ...(security && { security: entityOf(SECURITY_ENTITIES, security) }),
    ...(ask && { ask: entityOf(ASK_ENTITIES, ask) }),
    ...(ask_fallback && { ask_fallback: entityOf(FALLBACK_ENTITIES, ask_fallback) }),
  };
}

function entitiesOf(type: string, ids: readonly string[]): ReadonlyMap<string, CedarValueJson> {
  return new Map(ids.map((id) => [id, { __entity: entityUid(type, id) }]));
}

/** FAIL CLOSED: a value that is none of its kind is no call that can be judged. */
function entityOf(entities: ReadonlyMap<string, CedarValueJson>, id: string): CedarValueJson {
  const entity = entities.get(id);
  if (entity === undefined) throw new TypeError(`\`${id}\` is none of ${[...entities.keys()].join(', ')}`);
  return entity;
}
