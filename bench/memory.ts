import { runAuthorizes } from './authorize.ts';
import { median } from './stats.ts';
import type { World } from './world.ts';

const SAMPLES = 40;

export interface MemoryUse {
  operations: number;
  startMb: number;
  firstQuarterMb: number;
  lastQuarterMb: number;
  peakMb: number;
  endMb: number;
}

/** Resident memory of the service over many authorizes, sampled at even steps. */
export async function measureMemory(
  world: World,
  operations: number,
  progress: (done: number, residentMb: number) => void,
): Promise<MemoryUse> {
  const startMb = await world.server.readResidentMb();
  const samples: number[] = [];
  for (let sample = 1; sample <= SAMPLES; sample += 1) {
    await runAuthorizes(world, operations / SAMPLES);
    const residentMb = await world.server.readResidentMb();
    samples.push(residentMb);
    progress((sample * operations) / SAMPLES, residentMb);
  }
  const quarter = SAMPLES / 4;
  return {
    operations,
    startMb,
    firstQuarterMb: median(samples.slice(0, quarter)),
    lastQuarterMb: median(samples.slice(-quarter)),
    peakMb: Math.max(...samples),
    endMb: samples.at(-1) ?? startMb,
  };
}
