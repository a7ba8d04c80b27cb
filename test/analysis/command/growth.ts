const SMALL = 16_384;
const LARGE = 131_072;
/**
 * Eight times the text may take this many times the time: what the larger makes no longer fits where the collector
 * takes little, which makes 30 times of a linear analysis. A quadratic one would take 64 times.
 */
export const GROWTH_MAX = 48;
/** Times below this are noise. */
const FLOOR_MS = 4;
const ATTEMPTS = 8;

/** The processor time of a run, which other programs of the machine disturb less than the clock. */
function timeOf(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * How many times as long a text of 128 KiB takes as one of 16 KiB, by the least times measured. Measures again only
 * while that is more than `GROWTH_MAX`: a disturbance passes, growth does not.
 */
export function growthOf(run: (text: string) => unknown, make: (length: number) => string): number {
  const [short, long] = [make(SMALL), make(LARGE)];
  let least = timeOf(() => run(short));
  let most = Number.POSITIVE_INFINITY;
  const growth = (): number => most / Math.max(least, FLOOR_MS);
  for (let attempt = 0; attempt < ATTEMPTS && growth() > GROWTH_MAX; attempt += 1) {
    least = Math.min(
      least,
      timeOf(() => run(short)),
    );
    most = Math.min(
      most,
      timeOf(() => run(long)),
    );
  }
  return growth();
}

/** A piece of text again and again, in at most as many characters. */
export function repeated(unit: string, length: number): string {
  return unit.repeat(Math.floor(length / unit.length));
}
