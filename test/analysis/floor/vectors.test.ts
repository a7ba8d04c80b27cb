import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { breaksFloor } from './breaks_floor.ts';

interface Vector {
  command: string;
  verdict: string;
  platform: string;
}
interface Verdict {
  means: 'floor' | 'not_floor' | 'policy';
  floor?: string[];
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
}

const { cases } = readJson('../../vectors/shell/destructive-commands.json') as { cases: Vector[] };
const { verdicts, disagreements } = readJson('verdicts.json') as {
  verdicts: Record<string, Verdict>;
  disagreements: { command: string; reason: string }[];
};
const posix = cases.filter(({ platform }) => platform === 'posix');
const disagreed = new Set(disagreements.map(({ command }) => command));

/** Whether this source would have the command on the floor, by the rule for its verdicts. */
function isExpected({ command, verdict }: Vector): boolean {
  const rule = verdicts[verdict];
  if (rule === undefined) throw new Error(`no rule for the verdict \`${verdict}\``);
  return rule.means === 'policy' ? (rule.floor ?? []).includes(command) : rule.means === 'floor';
}

describe('destructive commands of other products', () => {
  test('every verdict for a POSIX command has a rule, and every rule a case', () => {
    expect(Object.keys(verdicts).sort()).toEqual([...new Set(posix.map(({ verdict }) => verdict))].sort());
  });

  test('every command that must be refused in every mode is on the floor, and none that must not be', () => {
    const strict = posix.filter(({ verdict }) => verdict.endsWith('hardline'));
    expect(strict).toHaveLength(165);
    const wrong = strict.filter(
      ({ command, verdict }) => breaksFloor({ command }) !== (verdict === 'hardline'),
    );
    expect(wrong).toEqual([]);
  });

  test('every other verdict is met, but for the listed disagreements', () => {
    const differing = posix
      .filter((one) => breaksFloor(one) !== isExpected(one))
      .map(({ command }) => command);
    expect([...new Set(differing)].sort()).toEqual([...disagreed].sort());
  });

  test('every disagreement has a reason', () => {
    for (const { reason } of disagreements) expect(reason.length).toBeGreaterThan(10);
  });
});
