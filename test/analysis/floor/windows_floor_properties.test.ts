import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyseCommand } from '../../../src/analysis/command/analyse_command.ts';
import type { CommandAnalysis } from '../../../src/analysis/command/analysis.ts';
import { parseCmd } from '../../../src/analysis/command/windows/parse_cmd.ts';
import { parsePowerShell } from '../../../src/analysis/command/windows/parse_powershell.ts';
import { findWindowsFloor } from '../../../src/analysis/floor/windows_floor.ts';
import { growth } from './least_time.ts';
import { callOf, floorCases, safeCases } from './windows_cases.ts';

function hits(command: string, analysis: CommandAnalysis): string[] {
  return findWindowsFloor(callOf(command), analysis).map(({ rule }) => rule);
}

/** Cases that are bare words and operators, of one shell, with no wrapper around. */
const bare = floorCases.filter(({ command }) => !/["'^`$%(]|^(?:powershell|cmd)|\| *cmd/.test(command));
const isPowerShell = ({ command }: { command: string }) =>
  /[A-Za-z]-[A-Z]|\b(?:ri|gci|rm|rd|dir)\b.* -r/.test(command);
const cmdCases = bare.filter((one) => !isPowerShell(one) && !one.command.startsWith('C:/'));
const powershellCases = bare.filter(
  ({ rule, command }) =>
    hits(command, parsePowerShell(command)).includes(rule) && !/[/]s|\bcd\b/.test(command),
);

/** Puts an escape before some of the characters that it leaves as they are. */
function escaped(command: string, sign: string, exempt: RegExp, picks: readonly boolean[]): string {
  return [...command]
    .map((char, index) => (picks[index % picks.length] === true && !exempt.test(char) ? sign + char : char))
    .join('');
}
const picks = fc.array(fc.boolean(), { minLength: 3, maxLength: 24 });

describe('the floor of Windows', () => {
  it('has enough cases to try', () => {
    expect(cmdCases.length).toBeGreaterThan(20);
    expect(powershellCases.length).toBeGreaterThan(20);
  });

  it('is reached in any case of letters', () => {
    fc.assert(
      fc.property(fc.constantFrom(...floorCases), picks, ({ rule, command }, upper) => {
        // The letter of a loop and base64 are other ones in another case.
        fc.pre(!/-enc|%i/i.test(command));
        const text = [...command]
          .map((char, index) => (upper[index % upper.length] ? char.toUpperCase() : char.toLowerCase()))
          .join('');
        const call = callOf(text, { cwd: 'C:\\work' });
        expect(findWindowsFloor(call, analyseCommand(call)).map((hit) => hit.rule)).toContain(rule);
      }),
      { numRuns: 600 },
    );
  });

  it('is reached through carets anywhere in words', () => {
    fc.assert(
      fc.property(fc.constantFrom(...cmdCases), picks, ({ rule, command }, chosen) => {
        const text = escaped(command, '^', /[\s&|<>()%!]/, chosen);
        expect(hits(text, parseCmd(text))).toContain(rule);
        expect(hits(text, analyseCommand(callOf(text)))).toContain(rule);
      }),
      { numRuns: 600 },
    );
  });

  it('is reached through backticks before letters that they leave as they are', () => {
    fc.assert(
      fc.property(fc.constantFrom(...powershellCases), picks, ({ rule, command }, chosen) => {
        const text = escaped(command, '`', /[^c-z]|[efnrtuv]/i, chosen);
        expect(hits(text, parsePowerShell(text))).toContain(rule);
        expect(hits(text, analyseCommand(callOf(text)))).toContain(rule);
      }),
      { numRuns: 600 },
    );
  });

  it('is reached within more commands', () => {
    fc.assert(
      fc.property(fc.constantFrom(...cmdCases), fc.constantFrom(...safeCases), ({ rule, command }, safe) => {
        fc.pre(!/["'(|]|^cd /.test(safe));
        const text = `${safe} & ${command}`;
        expect(hits(text, parseCmd(text))).toContain(rule);
      }),
      { numRuns: 400 },
    );
  });

  it('is looked for in any text', () => {
    const texts = [...floorCases.map(({ command }) => command), ...safeCases];
    const mutated = fc
      .tuple(fc.constantFrom(...texts), fc.nat(), fc.nat(5), fc.string({ maxLength: 4 }))
      .map(([text, at, cut, more]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + more + text.slice(place + cut);
      });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.string({ unit: 'binary' })), (text) => {
        const call = callOf(text, { cwd: text, env: { T: text, USERPROFILE: text } });
        for (const analysis of [analyseCommand(call), parseCmd(text), parsePowerShell(text)]) {
          expect(Array.isArray(findWindowsFloor(call, analysis))).toBe(true);
        }
      }),
      { numRuns: 800 },
    );
  });

  it.each([
    ...['del /s x ', 'rd /s /q C:\\a & ', '$x = "C:"; ri $x\\* -r; ', 'set A=%A%%A%&', 'gci C:\\ | ri -r;'],
    ...["[a]::b('C:\\')", 'cmd /c ', '"C:\\" + ', 'foreach ($a in $a) { ', 'ri ('],
  ])('takes time in proportion to the length: %j again and again', (unit) => {
    const judging = (size: number) => {
      const text = `del ${unit.repeat(Math.floor(size / unit.length))}`;
      const analysis = parseCmd(text);
      return () => findWindowsFloor(callOf(text, { cwd: 'C:\\' }), analysis);
    };
    expect(growth(judging(8192), judging(131_072), 80)).toBeLessThan(80);
  });
});
