import { examineCommand } from '../analysis/examine_command.ts';
import { createDenial } from '../core/denial.ts';
import type { DecisionRequest, DenyDecision } from '../core/policy.ts';
import type { ReviewFacts } from '../core/review.ts';
import type { CallFacts } from './call_facts.ts';
import { findCommandFacts } from './command_facts.ts';
import { type Common, deny } from './denies.ts';
import { selectVariant } from './facts_by.ts';
import { describeParameterProblem, judgeParameters } from './parameters.ts';
import type { Registry } from './registry.ts';
import type { Slice } from './slices.ts';

/** A set that is loaded: what decisions are made from. */
export interface LoadedSet {
  revision: string;
  registry: Registry;
  /**
   * The policies of a slice that can match a principal, given by its id in lower case. To be used at once: the set may
   * take it back when others are wanted.
   * @throws when there is no such slice.
   */
  getSlice(sliceId: string, principal: string): Slice;
}

/** A call that policy can be asked about, or the deny that comes before. */
export type PreparedCall =
  | { kind: 'ready'; facts: CallFacts; common: Common }
  | { kind: 'denied'; decision: DenyDecision };

const NOTHING_TO_REVIEW: ReviewFacts = {
  registered: false,
  command: null,
  pathParameters: [],
  hostParameters: [],
  workspaceRoot: null,
};

/** What a decision says of a call of which nothing could be found out. */
export function unresolved({ revision }: LoadedSet): Common {
  return {
    policyRevision: revision,
    resolved: { tool: '', action: '' },
    toolFactsHash: '',
    secretParameters: [],
    reviewFacts: NOTHING_TO_REVIEW,
  };
}

/** Resolves a call's names and checks its parameters. @throws when either cannot be done: a deny. */
export function prepareCall(set: LoadedSet, request: DecisionRequest): PreparedCall {
  const { tool, action, parameters } = request.toolCall;
  const resolution = set.registry.resolve(tool, action);
  if (resolution.kind === 'refused') {
    const reason = `${resolution.reason}. Send the tool's plain name`;
    return { kind: 'denied', decision: deny(unresolved(set), reason) };
  }
  const { operation } = resolution;
  const common: Common = {
    policyRevision: set.revision,
    resolved: { tool: operation.tool, action: operation.action },
    toolFactsHash: operation.factsHash,
    secretParameters: [...operation.secretParameters],
    reviewFacts: {
      ...operation.reviewFacts,
      workspaceRoot: request.context.workspace_root ?? operation.workspaceRoot,
    },
  };
  const judged = judgeParameters(operation, parameters, request.context.workspace_root);
  if (judged.kind === 'problem') {
    const reason = describeParameterProblem(operation, judged.problem);
    return {
      kind: 'denied',
      decision: { ...deny(common, reason), denial: createDenial('parameters', reason) },
    };
  }
  const variant = selectVariant(operation.variants, parameters);
  const { exec, isSkill } = request;
  const command =
    operation.command && findCommandFacts(examineCommand(parameters, operation.command), exec, isSkill);
  const { destructive } = variant.facts;
  return {
    kind: 'ready',
    facts: { request, operation, variant, parameters: judged.facts, command },
    common: { ...common, reviewFacts: { ...common.reviewFacts, destructive } },
  };
}
