import { SOURCE_TRUSTS } from '../core/action.ts';
import type { DecisionRequest } from '../core/policy.ts';
import type { CedarCall, CedarValueJson, EntityJson } from './cedar.ts';
import { entityUid } from './model.ts';
import type { Operation } from './operation.ts';
import { pruneRecord, type Reads } from './reads.ts';

const TRUSTS = new Map(SOURCE_TRUSTS.map((trust) => [trust, { __entity: entityUid('Trust', trust) }]));

/**
 * The facts of a call as Cedar reads them, as far as `reads` goes. Of what the call says of its tool nothing is
 * taken: the registry's word is the only one (`mutates_state` of the call is part of the hash alone).
 */
export function buildAgentCall(
  request: DecisionRequest,
  operation: Operation,
  parameters: CedarValueJson,
  reads: Reads,
): CedarCall {
  const { agent, toolCall } = request;
  const principal = entityUid('Agent', agent.principal.toLowerCase());
  const action = entityUid('Action', operation.actionId);
  const path = toolCall.resource ?? '';
  const resource = entityUid('Resource', path);
  const entities: EntityJson[] = [];
  if (reads.principal) {
    const attrs = agent.owner === null ? {} : { owner: { __entity: approverUid(agent.owner) } };
    entities.push({ uid: principal, attrs, parents: agent.groups.map((group) => entityUid('Group', group)) });
  }
  if (reads.action) {
    const parents = operation.actionGroups.map((group) => entityUid('Action', group));
    entities.push({ uid: action, attrs: {}, parents });
  }
  if (reads.resource) {
    entities.push({ uid: resource, attrs: { path }, parents: [entityUid('Tool', operation.tool)] });
  }
  const context = pruneRecord(buildContext(request, operation, parameters), reads.context);
  return { principal, action, resource, context, entities };
}

/** The entity of a person who decides; principals are compared in lower case. */
export function approverUid(principal: string) {
  return entityUid('Approver', principal.toLowerCase());
}

function buildContext(
  { context, now }: DecisionRequest,
  operation: Operation,
  parameters: CedarValueJson,
): CedarCall['context'] {
  const facts: CedarCall['context'] = {
    tool: { ...operation.facts },
    parameters,
    source_trust: TRUSTS.get(context.source_trust) ?? { __entity: entityUid('Trust', 'untrusted') },
    contains_sensitive_data: context.contains_sensitive_data,
    unattended: context.unattended,
    now: { __extn: { fn: 'datetime', arg: now.toISOString() } },
  };
  if (context.workspace !== null) facts.workspace = context.workspace;
  if (context.environment !== null) facts.environment = context.environment;
  if (context.session_id !== null) facts.session_id = context.session_id;
  return facts;
}
