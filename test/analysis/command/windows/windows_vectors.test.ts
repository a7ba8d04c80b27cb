import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listSegments } from '../../../../src/analysis/command/analysis.ts';
import { readings, readVectors } from './support.ts';

interface ExecCase {
  command: string;
  platform?: string;
  analysable: boolean;
  executables?: string[];
  argv?: string[][];
}

const peers = readVectors<{ cases: ExecCase[] }>('peer-exec-analysis.json').cases;
const scenarios = readVectors<{ scenario_cases: ExecCase[] }>('allowlist-matching.json').scenario_cases;
const cases = [...peers, ...scenarios].filter(({ platform }) => platform === 'win32');

const disagreements = JSON.parse(
  readFileSync(new URL('./windows_disagreements.json', import.meta.url), 'utf8'),
) as Record<string, Record<string, string>>;
const reasons = disagreements['peer-exec-analysis'] ?? {};

/**
 * A line may be split only when each shell that could read it understands it without expanding or redirecting anything;
 * through a wrapper, whose quoting is that of one shell, when this one does.
 */
function agrees({ command, analysable, executables, argv }: ExecCase): boolean {
  const plain = readings(command).map(({ analysis, innermost }) => ({
    isPlain: analysis.understood && analysis.constructs.length === 0,
    argv: innermost.map((segment) => segment.words.map(({ value }) => value)),
  }));
  if (!analysable) return plain.some(({ isPlain }) => !isPlain);
  return plain.some(
    (reading) =>
      reading.isPlain &&
      (argv === undefined || JSON.stringify(reading.argv) === JSON.stringify(argv)) &&
      (executables === undefined ||
        JSON.stringify(reading.argv.map(([name]) => name)) === JSON.stringify(executables)),
  );
}

describe('lines of other products', () => {
  it('are all there', () => {
    expect(cases).toHaveLength(27);
  });

  it.each(cases.filter(({ command }) => reasons[command] === undefined))(
    'are split as they are there: $command',
    (vector) => {
      expect(agrees(vector)).toBe(true);
    },
  );

  it.each(Object.entries(reasons))('are read otherwise only for a reason: %s', (command, reason) => {
    const vector = cases.find((candidate) => candidate.command === command);
    expect(vector !== undefined && agrees(vector)).toBe(false);
    expect(reason.length).toBeGreaterThan(40);
  });
});

describe('a command within a command', () => {
  it.each([
    ["iex 'tool a'", 1],
    ["'tool a' | iex", 1],
    ['powershell -c "iex \'tool a\'"', 1],
    ['cmd /c call tool a', 1],
    ['cmd /c start "" tool a & tool b', 2],
  ])('is listed once: %s', (command, count) => {
    const found = readings(command).map(
      ({ analysis }) =>
        listSegments(analysis.segments).filter(({ words: [name] }) => name?.value === 'tool').length,
    );
    expect(Math.max(...found)).toBe(count);
  });
});
