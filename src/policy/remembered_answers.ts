import { type CedarAnswer, type CedarCall, evaluate } from './cedar.ts';
import type { SlicePart } from './slices.ts';

/** Answers that are kept of one generation, of all parts together: with what they were told, 8 MB at the most. */
const ANSWERS_MAX = 4096;
/** What is longer is seldom told twice. */
const TOLD_LENGTH_MAX = 1024;

type Answers = WeakMap<SlicePart, Map<string, CedarAnswer>>;

/** When the present generation is full it becomes the former, of which what is asked for again goes on. */
let present: Answers = new WeakMap();
let former: Answers = new WeakMap();
let count = 0;

/**
 * Asks Cedar about a call under a part of a slice, or answers as Cedar did when it was told the very same under it. An
 * answer follows from the policies and from what is told alone: Cedar knows no clock but `context.now` and reads
 * nothing else. Agents make the same calls again and again, and most of what differs between two is read by no policy
 * and so not told. Answers that could not be given are not kept. Never throws.
 */
export function evaluateOnce(part: SlicePart, call: CedarCall): CedarAnswer {
  const told = JSON.stringify(part.reads.resourceId ? call : { ...call, resource: null });
  if (told.length > TOLD_LENGTH_MAX) return evaluate(part.preparedName, call);
  const known = present.get(part)?.get(told);
  if (known !== undefined) return known;
  const answer = former.get(part)?.get(told) ?? evaluate(part.preparedName, call);
  if (answer.kind === 'answered') keep(part, told, answer);
  return answer;
}

function keep(part: SlicePart, told: string, answer: CedarAnswer): void {
  if (count >= ANSWERS_MAX) {
    former = present;
    present = new WeakMap();
    count = 0;
  }
  const answers = present.get(part) ?? new Map<string, CedarAnswer>();
  answers.set(told, answer);
  present.set(part, answers);
  count += 1;
}
