/** Above this many comparisons lines are told as taken out and put in, without looking for those that stayed. */
const COMPARISONS_MAX = 1_000_000;

/**
 * The difference of two texts by lines, all of both: a line begins with a space when it stayed, `-` when it went,
 * `+` when it came. The longest common lines stay.
 */
export function diffLines(from: string, to: string): string[] {
  const [before, after] = [from.split('\n'), to.split('\n')];
  const start = countEqual(before, after, (lines, index) => lines[index]);
  const [restBefore, restAfter] = [before.slice(start), after.slice(start)];
  const end = countEqual(restBefore, restAfter, (lines, index) => lines.at(-1 - index));
  const middle = diffMiddle(
    restBefore.slice(0, restBefore.length - end),
    restAfter.slice(0, restAfter.length - end),
  );
  const kept = (lines: string[]) => lines.map((line) => ` ${line}`);
  return [...kept(before.slice(0, start)), ...middle, ...kept(before.slice(before.length - end))];
}

type LineAt = (lines: readonly string[], index: number) => string | undefined;

function countEqual(before: readonly string[], after: readonly string[], lineAt: LineAt): number {
  const most = Math.min(before.length, after.length);
  let count = 0;
  while (count < most && lineAt(before, count) === lineAt(after, count)) count += 1;
  return count;
}

function diffMiddle(before: readonly string[], after: readonly string[]): string[] {
  const isLarge = before.length * after.length > COMPARISONS_MAX;
  const common = isLarge ? undefined : commonLengths(before, after);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const goes = common?.[i + 1]?.[j] ?? 0;
    const comes = common?.[i]?.[j + 1] ?? 0;
    if (common !== undefined && i < before.length && j < after.length && before[i] === after[j]) {
      lines.push(` ${before[i]}`);
      i += 1;
      j += 1;
    } else if (i < before.length && (j === after.length || goes >= comes)) {
      lines.push(`-${before[i]}`);
      i += 1;
    } else {
      lines.push(`+${after[j]}`);
      j += 1;
    }
  }
  return lines;
}

/** At `[i][j]`, how many lines the rests from `i` and `j` have in common, in order. */
function commonLengths(before: readonly string[], after: readonly string[]): number[][] {
  let below: number[] = new Array(after.length + 1).fill(0);
  const rows = [below];
  for (const line of before.toReversed()) {
    const row: number[] = new Array(after.length + 1).fill(0);
    for (let j = after.length - 1; j >= 0; j -= 1) {
      row[j] = line === after[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
    rows.push(row);
    below = row;
  }
  return rows.toReversed();
}
