/** Processor time of a run in milliseconds: what else the machine does is left out. */
function timeOf(run: () => unknown): number {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** Very short times say little: what is below this many milliseconds counts as that. */
const SHORT = 5;
/** How often what seems to take too long is tried again. */
const TRIES = 8;

/**
 * How much longer the large takes than the small, both warmed up: the smallest ratio found, where a larger one could
 * be the machine's.
 */
export function growth(small: () => unknown, large: () => unknown, most: number): number {
  small();
  const start = timeOf(small);
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < TRIES && least >= most; at += 1) {
    least = Math.min(least, timeOf(large) / Math.max(start, SHORT));
  }
  return least;
}
