import fc from 'fast-check';
import { expect, it } from 'vitest';
import { listExecutables } from '../../../src/analysis/command/analysis.ts';
import { analyse } from './analysis_tools.ts';
import { mutatedVector, shellSoup } from './shell_texts.ts';

const SECONDS = Number(process.env.FUZZ_SECONDS ?? '2');
/** Far more processor time than a text of a few kilobytes takes, and far less than a quadratic analysis would. */
const TIME_MAX_MS = 2000;

/** Small texts, and each of them many times over. */
const text = fc
  .tuple(fc.oneof(shellSoup(60), mutatedVector()), fc.constantFrom(1, 1, 1, 1, 40))
  .map(([unit, times]) => unit.repeat(times).slice(0, 16_384));

it(
  `survives ${SECONDS} seconds of texts that look like shell`,
  () => {
    const result = fc.check(
      fc.property(text, fc.constantFrom(null, 'C:\\work'), (command, cwd) => {
        const before = process.cpuUsage();
        const analysis = analyse(command, { cwd });
        const { user, system } = process.cpuUsage(before);
        const isKnown = listExecutables(analysis).every(({ value }) => value !== null && value !== '');
        return (user + system) / 1000 < TIME_MAX_MS && (isKnown || !analysis.understood);
      }),
      {
        numRuns: Number.MAX_SAFE_INTEGER,
        interruptAfterTimeLimit: SECONDS * 1000,
        markInterruptAsFailure: false,
      },
    );
    expect(result.counterexample, `seed ${result.seed}, path ${result.counterexamplePath}`).toBeNull();
    expect(result.numRuns).toBeGreaterThan(10);
  },
  (SECONDS + 60) * 1000,
);
