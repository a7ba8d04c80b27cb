import type { CommandCall } from '../../core/command_call.ts';
import { analyseCommand } from '../command/analyse_command.ts';
import type { CommandAnalysis, Construct, Segment } from '../command/analysis.ts';
import { bindFromText } from './bindings.ts';
import { isCut } from './cut.ts';
import type { FloorHit, FloorRule } from './floor.ts';
import { holdsForkBomb } from './fork_bomb.ts';
import { readAllRoughly } from './rough_segments.ts';
import { scanRoughly } from './scan_roughly.ts';
import { openingScope } from './scope.ts';
import { walkText } from './walk.ts';

const UNREAD = new Set(['syntax', 'too_deep', 'too_long', 'control_character']);
const BRANCHES: readonly Construct[] = ['control_flow', 'function', 'subshell', 'command_substitution'];
/** What text may expand to in all, in characters: beside what it holds, and for each that it holds. */
const EXPANSION_MIN = 262_144;
const EXPANSION_PER_CHARACTER = 16;

/** The segments to look at: as analysed, and where the text could not be read, as near as they can be told. */
function segmentsOf(analysis: CommandAnalysis, text: string | null): readonly Segment[] {
  const isUnread = analysis.problems.some(({ code }) => UNREAD.has(code));
  return isUnread && text !== null ? [...analysis.segments, ...readAllRoughly(text)] : analysis.segments;
}

/** What shell scripts and POSIX commands break, in whatever language their segments were read. Pure, total, linear. */
export function findPosixFloor(call: CommandCall, analysis: CommandAnalysis): FloorHit[] {
  const hits = new Map<string, FloorHit>();
  const report = (rule: FloorRule, { text }: { text: string }) => {
    const key = `${rule}\n${text}`;
    if (!hits.has(key)) hits.set(key, { rule, text });
  };
  // An argument vector runs as it stands: its quoted form is no script.
  const text = call.argv === null ? call.command : null;
  const most = EXPANSION_MIN + EXPANSION_PER_CHARACTER * call.command.length;
  const scope = openingScope(call, { left: most, reserve: most });
  if (text !== null && analysis.language === 'posix') {
    if (holdsForkBomb(text)) report('fork-bomb', { text });
    bindFromText(text, scope);
  }
  if (isCut(analysis)) {
    const whole = call.argv?.join(' ') ?? call.command;
    for (const rule of scanRoughly(whole, scope)) report(rule, { text: whole });
  }
  const analyse = (script: string): readonly Segment[] =>
    segmentsOf(analyseCommand({ ...call, command: script, argv: null, resolvedPaths: null }), script);
  const isStraight = !analysis.constructs.some((construct) => BRANCHES.includes(construct));
  walkText(segmentsOf(analysis, text), { scope, feed: null }, { analyse, report, isStraight });
  return [...hits.values()];
}
