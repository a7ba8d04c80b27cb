import type { AuthorizeCost } from './authorize.ts';
import type { Contention } from './consume.ts';
import type { EventsUse } from './events.ts';
import type { Comparison } from './load.ts';
import type { MemoryUse } from './memory.ts';
import type { ReviewCost } from './review.ts';
import type { SdkCost } from './sdk.ts';
import { median, quantile } from './stats.ts';

/** One line of the result: what was measured, against what, and whether the target was reached. */
export interface Row {
  measure: string;
  ratio: string;
  target: string;
  reached: boolean;
  measured: string;
  baseline: string;
}

const HEADINGS = {
  measure: 'measure',
  ratio: 'ratio',
  target: 'target',
  measured: 'measured',
  baseline: 'baseline',
};
type Column = keyof typeof HEADINGS;

const RATIO_OF_ECHO = 0.2;
const RATIO_OF_STATEMENT = 0.5;
const RATIO_OF_STRINGIFY = 4;
const RATIO_OF_ALONE = 50;
const REVIEW_MS = 2;
/** Linear, with what caches and the collector make of a larger text. */
const REVIEW_GROWTH = 1.5;
const EVENT_TO_ALL_MS = 1000;
const SLOWDOWN_BY_READERS = 2;
const RESIDENT_MB = 200;
/** What the collector leaves to chance from one sample to the next. */
const GROWTH = 1.02;
const GROWTH_OPERATIONS_MIN = 100_000;

export function throughput({ perSecond, latencies }: Comparison['measured']): string {
  return `${perSecond.toFixed(0)}/s, ${pair(median(latencies), quantile(latencies, 0.99), 'ms')}`;
}

function pair(p50: number, p99: number, unit: string): string {
  return `p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} ${unit}`;
}

export function authorizeRows({ same, different }: AuthorizeCost): Row[] {
  const toRow = (measure: string, { ratio, measured, baseline }: Comparison): Row => ({
    measure,
    ratio: ratio.toFixed(2),
    target: `>= ${RATIO_OF_ECHO.toFixed(2)}`,
    reached: ratio >= RATIO_OF_ECHO,
    measured: throughput(measured),
    baseline: throughput(baseline),
  });
  return [
    toRow('authorize, the same call / echo', same),
    toRow('authorize, no two calls alike / echo', different),
  ];
}

export function consumeRow({ ratio, measured, baseline }: Comparison): Row {
  return {
    measure: 'consume / its statement',
    ratio: ratio.toFixed(2),
    target: `>= ${RATIO_OF_STATEMENT.toFixed(2)}`,
    reached: ratio >= RATIO_OF_STATEMENT,
    measured: throughput(measured),
    baseline: throughput(baseline),
  };
}

export function sdkRow({ ratio, bytes, sdk, plain }: SdkCost): Row {
  return {
    measure: `sdk, ${bytes} bytes / stringify + hash`,
    ratio: ratio.toFixed(2),
    target: `<= ${RATIO_OF_STRINGIFY}`,
    reached: ratio <= RATIO_OF_STRINGIFY,
    measured: pair(sdk.p50, sdk.p99, 'µs'),
    baseline: pair(plain.p50, plain.p99, 'µs'),
  };
}

export function reviewRows({ small, large, growth }: ReviewCost): Row[] {
  return [
    {
      measure: 'view of a 2 KiB command, quietest round',
      ratio: `${small.quietest.toFixed(2)} ms`,
      target: `<= ${REVIEW_MS} ms`,
      reached: small.quietest <= REVIEW_MS,
      measured: `${pair(small.p50, small.p99, 'ms')} of all`,
      baseline: '',
    },
    {
      measure: 'a byte of 256 KiB / a byte of 16 KiB',
      ratio: growth.toFixed(2),
      target: `<= ${REVIEW_GROWTH}`,
      reached: growth <= REVIEW_GROWTH,
      measured: `${large.toFixed(0)} ms`,
      baseline: '',
    },
  ];
}

export function contentionRow({ aloneMs, losersMs }: Contention): Row {
  const ratio = losersMs.max / aloneMs.p50;
  return {
    measure: '64 for one approval: slowest loser / alone',
    ratio: ratio.toFixed(1),
    target: `< ${RATIO_OF_ALONE}`,
    reached: ratio < RATIO_OF_ALONE,
    measured: pair(losersMs.p50, losersMs.p99, 'ms'),
    baseline: pair(aloneMs.p50, aloneMs.p99, 'ms'),
  };
}

export function eventRows({ readers, fragments, refused, toAllMs, withReaders, without }: EventsUse): Row[] {
  const slowest = quantile(toAllMs, 1);
  const slowdown = quantile(withReaders.latencies, 0.99) / quantile(without.latencies, 0.99);
  return [
    {
      measure: `an event to ${readers / 2} consoles and as many readers`,
      ratio: `${slowest.toFixed(0)} ms`,
      target: `<= ${EVENT_TO_ALL_MS} ms`,
      reached: slowest <= EVENT_TO_ALL_MS,
      measured: pair(median(toAllMs), quantile(toAllMs, 0.99), 'ms'),
      baseline: `${fragments} fragments, ${refused} refused`,
    },
    {
      measure: `p99 of authorize with these / without`,
      ratio: slowdown.toFixed(2),
      target: `<= ${SLOWDOWN_BY_READERS}`,
      reached: slowdown <= SLOWDOWN_BY_READERS,
      measured: throughput(withReaders),
      baseline: throughput(without),
    },
  ];
}

/** Memory's rows; growth is told only over so many operations that the warm-up is a small part of them. */
export function memoryRows(use: MemoryUse): Row[] {
  const highestMb = Math.max(use.lastQuarterMb, use.endMb);
  const resident: Row = {
    measure: `resident after ${use.operations} authorizes`,
    ratio: `${highestMb.toFixed(0)} MB`,
    target: `<= ${RESIDENT_MB} MB`,
    reached: highestMb <= RESIDENT_MB,
    measured: `end ${use.endMb.toFixed(0)} MB, peak ${use.peakMb.toFixed(0)} MB`,
    baseline: `start ${use.startMb.toFixed(0)} MB`,
  };
  return use.operations < GROWTH_OPERATIONS_MIN ? [resident] : [resident, growthRow(use)];
}

function growthRow({ firstQuarterMb, lastQuarterMb }: MemoryUse): Row {
  const growth = lastQuarterMb / firstQuarterMb;
  return {
    measure: 'resident, last quarter / first',
    ratio: growth.toFixed(2),
    target: `<= ${GROWTH.toFixed(2)}`,
    reached: growth <= GROWTH,
    measured: `${lastQuarterMb.toFixed(0)} MB`,
    baseline: `${firstQuarterMb.toFixed(0)} MB`,
  };
}

/** Prints the rows as one table on stdout. */
export function printTable(rows: readonly Row[]): void {
  const columns = Object.keys(HEADINGS) as Column[];
  const widths = columns.map((column) => Math.max(...[HEADINGS, ...rows].map((row) => row[column].length)));
  const line = (row: Record<Column, string>, mark: string): string =>
    [...columns.map((column, index) => row[column].padEnd(widths[index] ?? 0)), mark].join('  ').trimEnd();
  console.log(line(HEADINGS, ''));
  for (const row of rows) console.log(line(row, row.reached ? 'reached' : 'missed'));
}
