import { type CedarAnswer, type CedarCall, evaluate } from './cedar.ts';
import type { Reads } from './reads.ts';
import type { Slice, SlicePart } from './slices.ts';

function evaluatePart({ preparedName }: SlicePart, call: CedarCall): CedarAnswer {
  return evaluate(preparedName, call);
}

/**
 * Asks Cedar about one call under every part of a slice, each told what it reads, and answers as one set of all their
 * policies would; `ask` asks about one part. Never throws where `callFor` does not.
 */
export function evaluateSlice(
  { parts }: Slice,
  callFor: (reads: Reads) => CedarCall,
  ask: typeof evaluatePart = evaluatePart,
): CedarAnswer {
  return combineAnswers(parts.map((part) => ask(part, callFor(part.reads))));
}

/**
 * Cedar's answer for the union of sets of policies, from its answers for each: a forbid in any of them denies, else a
 * permit in any of them allows, else nothing does. The policies named are those that the answer follows from. FAIL
 * CLOSED: what failed or erred in one has failed or erred in all.
 */
export function combineAnswers(answers: readonly CedarAnswer[]): CedarAnswer {
  const told: Exclude<CedarAnswer, { kind: 'failed' }>[] = [];
  for (const answer of answers) {
    if (answer.kind === 'failed') return answer;
    told.push(answer);
  }
  // A deny names the forbids behind it; one that names nothing is for want of a permit, and another set may have it.
  const isForbidden = told.some(({ decision, reason }) => decision === 'deny' && reason.length > 0);
  const isPermitted = told.some((answer) => answer.decision === 'allow');
  const decision = isPermitted && !isForbidden ? 'allow' : 'deny';
  const reason = told
    .filter((answer) => answer.decision === decision)
    .flatMap((answer) => answer.reason)
    .toSorted();
  const errors = told.flatMap((answer) => (answer.kind === 'erred' ? answer.errors : [])).toSorted();
  return errors.length > 0
    ? { kind: 'erred', decision, reason, errors }
    : { kind: 'answered', decision, reason };
}
