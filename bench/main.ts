import { parseArgs } from 'node:util';
import { measureAuthorize } from './authorize.ts';
import { measureConsume, measureContention } from './consume.ts';
import { measureEvents } from './events.ts';
import { measureMemory } from './memory.ts';
import { measureReview } from './review.ts';
import { measureScale } from './scale.ts';
import { scaleRows } from './scale_table.ts';
import { measureSdk } from './sdk.ts';
import {
  authorizeRows,
  consumeRow,
  contentionRow,
  eventRows,
  memoryRows,
  printTable,
  reviewRows,
  sdkRow,
} from './table.ts';
import { openWorld } from './world.ts';

/** How much is measured: some 20 seconds, or a few minutes. */
const FULL = {
  sdkRounds: 1000,
  views: 250,
  rounds: 9,
  authorizes: 8000,
  consumes: 4000,
  contentions: 100,
  memoryAuthorizes: 200_000,
  scale: { policies: 10_000, tools: 1_000 },
};
const SHORT = {
  sdkRounds: 200,
  views: 100,
  rounds: 3,
  authorizes: 1500,
  consumes: 1000,
  contentions: 15,
  memoryAuthorizes: 8000,
  scale: { policies: 1_000, tools: 100 },
};

const startedAt = performance.now();

function tell(line: string): void {
  console.error(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${line}`);
}

/** One run of everything. A wrong answer, a missing row or a second winner throws; a slow machine does not. */
async function runBench(sizes: typeof FULL): Promise<void> {
  tell('the cost within the sdk');
  const sdk = measureSdk(sizes.sdkRounds);
  tell('what a new approval is analysed, masked and shown by');
  const review = measureReview(sizes.views);
  const { policies, tools } = sizes.scale;
  tell(`${policies} policies and ${tools} tools against a few`);
  const scale = await measureScale(sizes.scale, sizes.rounds, sizes.authorizes);
  tell('starting the service on a new database');
  const world = await openWorld();
  try {
    tell('authorize against a bare echo, 64 at once');
    const authorize = await measureAuthorize(world, sizes.rounds, sizes.authorizes);
    tell('consume against its statement alone, 64 at once');
    const consume = await measureConsume(world, sizes.rounds, sizes.consumes);
    tell('64 consumers of one approval');
    const contention = await measureContention(world, sizes.contentions);
    tell(`memory over ${sizes.memoryAuthorizes} authorizes`);
    const memory = await measureMemory(world, sizes.memoryAuthorizes, (done, residentMb) => {
      if (done % (sizes.memoryAuthorizes / 8) === 0)
        tell(`  ${done} authorizes, ${residentMb.toFixed(0)} MB`);
    });
    tell('authorize with many readers of events, and without');
    const events = await measureEvents(world, sizes.rounds, sizes.authorizes);
    printTable([
      ...authorizeRows(authorize),
      consumeRow(consume),
      sdkRow(sdk),
      ...reviewRows(review),
      contentionRow(contention),
      ...memoryRows(memory),
      ...eventRows(events),
      ...scaleRows(scale),
    ]);
  } finally {
    await world.close();
  }
}

const { values } = parseArgs({ options: { short: { type: 'boolean', default: false } } });
await runBench(values.short ? SHORT : FULL);
