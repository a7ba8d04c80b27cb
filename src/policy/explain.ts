import type { JsonObject, JsonValue } from '../core/json.ts';
import type { AskStanding, Contribution, Decision, DecisionRequest, Explanation } from '../core/policy.ts';
import { buildAgentCall, buildAskCall, type CallFacts } from './call_facts.ts';
import type { CedarCall, CedarValueJson, TypeAndId } from './cedar.ts';
import { type Consultation, consult, consultOnAsk, decide, type LoadedSet, settleAsk } from './decide.ts';
import { prepareCall } from './prepare_call.ts';
import { READS_ALL } from './reads.ts';

/**
 * Decides and settles a call, and says which policies were consulted, which of them applied, and what they were told.
 * FAIL CLOSED: of a call that cannot be evaluated the decision is told, and nothing else.
 */
export function explain(set: LoadedSet, request: DecisionRequest, standing: AskStanding): Explanation {
  const first = decide(set, request);
  const isAsk = first.decision === 'require_approval';
  const decision: Decision = isAsk ? settleAsk(set, request, first, standing) : first;
  try {
    const prepared = prepareCall(set, request);
    if (prepared.kind === 'denied') return { decision, contributions: [], facts: {} };
    const { facts } = prepared;
    const contributions = contributionsOf(consult(set, facts));
    const onAsk = isAsk ? contributionsOf(consultOnAsk(set, facts, standing)) : [];
    return {
      decision,
      contributions: orderContributions([...contributions, ...onAsk]),
      facts: describeFacts(facts, isAsk ? standing : null),
    };
  } catch {
    return { decision, contributions: [], facts: {} };
  }
}

function contributionsOf({ slice, answer }: Consultation): Contribution[] {
  const applied = answer.kind === 'failed' ? [] : answer.reason;
  const policies = slice.parts.flatMap((part) => [...part.policies.values()]);
  return policies.map(({ id, effect, annotations }) => ({
    policyId: id,
    effect,
    applied: applied.includes(id),
    annotations,
  }));
}

/** Those that applied first, each in order of ids; a policy that was consulted twice once, with the better answer. */
function orderContributions(contributions: readonly Contribution[]): Contribution[] {
  const ordered = contributions.toSorted(
    (a, b) => Number(b.applied) - Number(a.applied) || (a.policyId < b.policyId ? -1 : 1),
  );
  const seen = new Set<string>();
  return ordered.filter(({ policyId }) => {
    const isNew = !seen.has(policyId);
    seen.add(policyId);
    return isNew;
  });
}

/** What Cedar can be told of a call, whatever of it the policies read. */
function describeFacts(facts: CallFacts, standing: AskStanding | null): JsonObject {
  const call = buildAgentCall(facts, READS_ALL);
  const context = standing === null ? call.context : buildAskCall(facts, standing, READS_ALL).context;
  return {
    principal: describeEntity(call, call.principal),
    action: describeEntity(call, call.action),
    resource: describeEntity(call, call.resource),
    context: toPlainRecord(context),
  };
}

function describeEntity(call: CedarCall, uid: CedarCall['principal']): JsonObject {
  const plain = toTypeAndId(uid);
  const entity = call.entities.find((one) => formatEntity(toTypeAndId(one.uid)) === formatEntity(plain));
  return {
    entity: formatEntity(plain),
    groups: (entity?.parents ?? []).map((parent) => formatEntity(toTypeAndId(parent))),
    attributes: toPlainRecord(entity?.attrs ?? {}),
  };
}

function toPlainRecord(record: Readonly<Record<string, CedarValueJson>>): JsonObject {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, toPlain(value)]));
}

/** Cedar's marks of entities and extension values mean nothing to a reader, and no client takes their names. */
function toPlain(value: CedarValueJson): JsonValue {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(toPlain);
  if (isMarked(value, '__entity')) return formatEntity(toTypeAndId(value.__entity));
  if (isMarked(value, '__extn')) return String((value.__extn as { arg: unknown }).arg);
  return toPlainRecord(value as Record<string, CedarValueJson>);
}

function isMarked<Mark extends string>(value: object, mark: Mark): value is Record<Mark, unknown> {
  return Object.hasOwn(value, mark);
}

function toTypeAndId(uid: unknown): TypeAndId {
  const marked = uid as TypeAndId | { __entity: TypeAndId };
  return '__entity' in marked ? marked.__entity : marked;
}

function formatEntity({ type, id }: TypeAndId): string {
  return `${type}::${JSON.stringify(id)}`;
}
