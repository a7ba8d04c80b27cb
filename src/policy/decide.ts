import type { ToolCall } from '../core/action.ts';
import { createDenial } from '../core/denial.ts';
import type {
  AskDecision,
  AskStanding,
  AskTerms,
  Decision,
  DecisionRequest,
  DenyDecision,
} from '../core/policy.ts';
import { type PolicyFacts, VOTES_MAX } from './annotations.ts';
import { collectAskTerms } from './ask_terms.ts';
import { buildAgentCall, buildAskCall, type CallFacts } from './call_facts.ts';
import type { CedarAnswer } from './cedar.ts';
import {
  type Common,
  deny,
  denyByForbids,
  denyUnevaluated,
  describeDefaultDeny,
  describePolicies,
  EVALUATION_FAILED,
  factsOfAll,
} from './denies.ts';
import { evaluateSlice } from './evaluate_slice.ts';
import { ASK_ACTION } from './model.ts';
import { type LoadedSet, prepareCall, unresolved } from './prepare_call.ts';
import { evaluateOnce } from './remembered_answers.ts';
import type { Slice } from './slices.ts';

export type { LoadedSet } from './prepare_call.ts';

/** Cedar's answer, with the policies that it was asked about. */
export interface Consultation {
  slice: Slice;
  answer: CedarAnswer;
}

/** Whether a call is of a tool that runs commands, whatever else is wrong with it. */
export function isCommand({ registry }: LoadedSet, { tool, action }: ToolCall): boolean {
  const resolution = registry.resolve(tool, action);
  return resolution.kind !== 'refused' && resolution.operation.command !== null;
}

/**
 * Decides one call: names and parameters first, then Cedar. Whether an ask may be put to a person is `settleAsk`'s to
 * say. FAIL CLOSED: whatever goes wrong is a deny.
 */
export function decide(set: LoadedSet, request: DecisionRequest): Decision {
  let common = unresolved(set);
  try {
    const prepared = prepareCall(set, request);
    if (prepared.kind === 'denied') return prepared.decision;
    common = prepared.common;
    return readDecision(common, prepared.facts, consult(set, prepared.facts));
  } catch {
    return deny(common, EVALUATION_FAILED);
  }
}

/**
 * Asks Cedar once more about an ask, under the action `ask` and the same context: a forbid that applies there makes it
 * a deny, and its `@denied_by` says by what. FAIL CLOSED: whatever goes wrong is a deny.
 */
export function settleAsk(
  set: LoadedSet,
  request: DecisionRequest,
  ask: AskDecision,
  standing: AskStanding,
): AskDecision | DenyDecision {
  const { policyRevision, resolved, toolFactsHash, secretParameters, reviewFacts } = ask;
  const common: Common = { policyRevision, resolved, toolFactsHash, secretParameters, reviewFacts };
  try {
    const prepared = prepareCall(set, request);
    if (prepared.kind === 'denied') return prepared.decision;
    return readSettlement(common, ask, consultOnAsk(set, prepared.facts, standing));
  } catch {
    return deny(common, EVALUATION_FAILED);
  }
}

/** Asks Cedar about a call. */
export function consult(set: LoadedSet, facts: CallFacts): Consultation {
  const slice = getSlice(set, facts.variant.sliceId, facts);
  return { slice, answer: evaluateSlice(slice, (reads) => buildAgentCall(facts, reads), evaluateOnce) };
}

/** Asks Cedar about putting a call to a person. */
export function consultOnAsk(set: LoadedSet, facts: CallFacts, standing: AskStanding): Consultation {
  const slice = getSlice(set, ASK_ACTION, facts);
  return { slice, answer: evaluateSlice(slice, (reads) => buildAskCall(facts, standing, reads)) };
}

function getSlice(set: LoadedSet, sliceId: string, { request }: CallFacts): Slice {
  return set.getSlice(sliceId, request.agent.principal.toLowerCase());
}

function readDecision(common: Common, facts: CallFacts, { slice, answer }: Consultation): Decision {
  if (answer.kind !== 'answered') {
    return denyUnevaluated(common, slice, answer);
  }
  const applied = factsOfAll(slice, answer.reason);
  if (answer.decision === 'deny') {
    const { operation, variant } = facts;
    return applied.length === 0
      ? deny(common, describeDefaultDeny(operation, variant.facts.registered))
      : nameFloorRules(denyByForbids(common, applied), facts);
  }
  const asks = applied.filter((policy) => policy.ask !== null);
  return asks.length === 0
    ? { ...common, decision: 'allow', reason: describePolicies(applied), determiningPolicies: answer.reason }
    : decideAsk(common, facts, asks);
}

/** A refusal by the floor says which rule of it the command breaks. */
function nameFloorRules(denied: DenyDecision, { command }: CallFacts): DenyDecision {
  if (denied.denial?.by !== 'floor' || command === null) return denied;
  const rules = command.floor_rules.map((rule) => `\`${rule}\``).join(', ');
  const reason = `${denied.reason}: ${rules}`;
  return { ...denied, reason, denial: createDenial('floor', reason) };
}

function decideAsk(common: Common, { command }: CallFacts, asks: readonly PolicyFacts[]): Decision {
  const collected = collectAskTerms(asks.flatMap((policy) => (policy.ask === null ? [] : [policy.ask])));
  // What could run something else the next time is approved for one run.
  const terms: AskTerms = (command?.bound ?? true) ? collected : { ...collected, maxScope: 'once' };
  if (terms.requirements.votes > VOTES_MAX) {
    const reason = `the asks that apply demand more than ${VOTES_MAX} votes together. Change their groups`;
    return deny(common, reason);
  }
  const determiningPolicies = asks.map((policy) => policy.id);
  return {
    ...common,
    decision: 'require_approval',
    reason: describePolicies(asks),
    determiningPolicies,
    terms,
  };
}

/** Of permits under `ask` nothing is made: what may be asked is what nothing forbids. */
function readSettlement(
  common: Common,
  ask: AskDecision,
  { slice, answer }: Consultation,
): AskDecision | DenyDecision {
  if (answer.kind !== 'answered') {
    return denyUnevaluated(common, slice, answer);
  }
  const forbids = factsOfAll(slice, answer.reason).filter((policy) => policy.effect === 'forbid');
  return forbids.length === 0 ? ask : denyByForbids(common, forbids);
}
