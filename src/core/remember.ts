/** How many answers are kept, and of how long a text at most; when there are as many, all are forgotten. */
export interface RememberLimits {
  entries: number;
  length: number;
}

/**
 * A pure function that keeps its last answers, by the text that says all it is asked. What it answers is shared: nobody
 * may change it.
 */
export function remember<Asked, Answer extends string | object>(
  answer: (asked: Asked) => Answer,
  textOf: (asked: Asked) => string,
  limits: RememberLimits,
): (asked: Asked) => Answer {
  const known = new Map<string, Answer>();
  return (asked) => {
    const text = textOf(asked);
    if (text.length > limits.length) return answer(asked);
    const before = known.get(text);
    if (before !== undefined) return before;
    const fresh = answer(asked);
    if (known.size >= limits.entries) known.clear();
    known.set(text, fresh);
    return fresh;
  };
}
