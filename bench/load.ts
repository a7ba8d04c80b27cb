import { median } from './stats.ts';

/** A closed loop: `concurrency` workers, each doing one operation after another. */
export interface Load {
  concurrency: number;
  /** Operations in all; each gets its own number and its worker's, and throws when its answer is wrong. */
  operations: number;
  run: (operation: number, worker: number) => Promise<void>;
}

export interface LoadResult {
  perSecond: number;
  /** Of each operation, in milliseconds. */
  latencies: number[];
}

export async function runLoad({ concurrency, operations, run }: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  let next = 0;
  const startedAt = performance.now();
  const work = async (worker: number): Promise<void> => {
    while (next < operations) {
      const operation = next;
      next += 1;
      const sentAt = performance.now();
      await run(operation, worker);
      latencies.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, worker) => work(worker)));
  return { perSecond: (operations * 1000) / (performance.now() - startedAt), latencies };
}

export interface Comparison {
  /** Throughput of the measured side by that of the baseline: the median of the rounds. */
  ratio: number;
  measured: LoadResult;
  baseline: LoadResult;
}

/** Both sides in turn, round after round, so that a machine that slows down slows both. */
export async function compare(
  rounds: number,
  measured: (round: number) => Promise<LoadResult>,
  baseline: (round: number) => Promise<LoadResult>,
): Promise<Comparison> {
  const pairs: { measured: LoadResult; baseline: LoadResult }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const base = await baseline(round);
    pairs.push({ baseline: base, measured: await measured(round) });
  }
  return {
    ratio: median(pairs.map((pair) => pair.measured.perSecond / pair.baseline.perSecond)),
    measured: pool(pairs.map((pair) => pair.measured)),
    baseline: pool(pairs.map((pair) => pair.baseline)),
  };
}

function pool(results: readonly LoadResult[]): LoadResult {
  return {
    perSecond: median(results.map((result) => result.perSecond)),
    latencies: results.flatMap((result) => result.latencies),
  };
}
