/**
 * The candidate nearest to a name, by edits of single characters; undefined when none is within `editsMax`. Of equally
 * near ones it is the first.
 */
export function findNearestName<Name extends string>(
  name: string,
  candidates: readonly Name[],
  editsMax: number,
): Name | undefined {
  const [nearest] = candidates
    .map((candidate) => ({ candidate, edits: countEdits(name, candidate) }))
    .sort((left, right) => left.edits - right.edits);
  return nearest !== undefined && nearest.edits <= editsMax ? nearest.candidate : undefined;
}

/** Levenshtein distance, one row at a time. */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [above, letter] of [...from].entries()) {
    const next = [above + 1];
    for (const [index, other] of [...to].entries()) {
      const replaced = (row[index] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
