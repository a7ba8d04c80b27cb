import type { Segment } from '../command/analysis.ts';
import { baseName } from './command_words.ts';
import { changesShell } from './effects.ts';
import { isInterpreter } from './inline_code.ts';
import { hasMark } from './marks.ts';
import { hasRules } from './rules_by_name.ts';
import { isRunner, isShell, readsScript, takesScript } from './scripts_of.ts';

/** The name of a segment's command where that is written out; null where it has to be worked out. */
function writtenName({ words: [first] }: Segment): string | null {
  const value = first?.value ?? null;
  return value === null || hasMark(value) ? null : baseName(value);
}

/** Whether a command of this name can break a rule, run something in turn or change what those after it run in. */
function mayAct(name: string): boolean {
  return (
    hasRules(name) ||
    isRunner(name) ||
    takesScript(name) ||
    changesShell(name) ||
    isShell(name) ||
    isInterpreter(name)
  );
}

/** Whether nothing that a segment's words expand to can matter, but for what its command prints. */
export function isIdle(segment: Segment): boolean {
  if (segment.inner.length > 0) return false;
  if (segment.words.length === 0) return true;
  const name = writtenName(segment);
  return name !== null && !mayAct(name);
}

function isPipe({ operator }: Segment): boolean {
  return operator === '|' || operator === '|&';
}

/** Whether a segment's command runs what it reads, or hands it to another. */
function readsInput(segment: Segment): boolean {
  if (segment.words.length === 0) return false;
  const name = writtenName(segment);
  if (name === null || isShell(name) || isInterpreter(name) || readsScript(name)) return true;
  // What stands among a runner's words is looked for only where the analysis did not find it.
  return segment.inner.length === 0 && isRunner(name);
}

function someSegment(segments: readonly Segment[], isMeant: (segment: Segment) => boolean): boolean {
  return segments.some((segment) => isMeant(segment) || someSegment(segment.inner, isMeant));
}

/** Whether, among these segments and those they run in turn, one may run what another prints. */
export function runsOutput(segments: readonly Segment[]): boolean {
  return someSegment(segments, isPipe) && someSegment(segments, readsInput);
}
