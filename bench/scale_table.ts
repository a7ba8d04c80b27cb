import type { Scale } from './scale.ts';
import { type Row, throughput } from './table.ts';

const TIMES_SMALL = 1.2;
const TIMES_P50 = 50;
const RESIDENT_MB = 400;

/** What a large set costs: at each call, at its activation, and in memory. */
export function scaleRows({ size, authorize, activation, residentMb }: Scale): Row[] {
  const set = `${size.policies} policies, ${size.tools} tools`;
  const cost = 1 / authorize.ratio;
  const stall = activation.slowestMs / activation.p50Ms;
  return [
    {
      measure: `authorize at ${set} / at 10, 5`,
      ratio: cost.toFixed(2),
      target: `<= ${TIMES_SMALL.toFixed(2)}`,
      reached: cost <= TIMES_SMALL,
      measured: throughput(authorize.measured),
      baseline: throughput(authorize.baseline),
    },
    {
      measure: `slowest authorize while they are activated / p50`,
      ratio: stall.toFixed(1),
      target: `<= ${TIMES_P50}`,
      reached: stall <= TIMES_P50,
      measured: `${activation.slowestMs.toFixed(0)} ms, activated in ${activation.seconds.toFixed(1)} s`,
      baseline: `p50 ${activation.p50Ms.toFixed(1)} ms`,
    },
    {
      measure: `resident with them`,
      ratio: `${residentMb.toFixed(0)} MB`,
      target: `<= ${RESIDENT_MB} MB`,
      reached: residentMb <= RESIDENT_MB,
      measured: `end ${residentMb.toFixed(0)} MB, peak ${activation.peakMb.toFixed(0)} MB`,
      baseline: '',
    },
  ];
}
