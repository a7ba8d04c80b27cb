import { analyseCommand } from '../../../../src/analysis/command/analyse_command.ts';
import {
  type CommandAnalysis,
  listExecutables,
  listSegments,
  type Segment,
} from '../../../../src/analysis/command/analysis.ts';
import { listScriptFiles } from '../../../../src/analysis/command/script_files.ts';
import type { CommandCall } from '../../../../src/core/command_call.ts';

/** What a command names that can be looked up on its host, by the analysis that the service makes of it too. */
export interface CommandReading {
  /** The words of its executables in the analyser's order; null when they cannot all be told from the text. */
  executables: string[] | null;
  /** Script files as the command writes them; what is not known is left out. */
  scripts: string[];
}

/** What a shell takes for itself and what then changes which file a later word names. */
const MOVES_LATER_WORDS: ReadonlySet<string> = new Set(
  `. alias builtin cd chdir command declare enable eval exec export getopts hash let local mapfile popd pushd read
   readarray readonly set shopt source trap typeset unalias unset`.split(/\s+/),
);

/** Wrappers that, told to by their options, look for what they run elsewhere than their own caller would. */
const MOVING_WRAPPERS: ReadonlySet<string> = new Set(['doas', 'env', 'find', 'flock', 'su', 'sudo']);
/** Wrappers that always do. */
const ROOT_WRAPPERS: ReadonlySet<string> = new Set(['chroot', 'nsenter', 'unshare']);

/** Reads a command. Total: what is not understood names nothing that could be stated. */
export function readCommand(call: CommandCall): CommandReading {
  const analysis = analyseCommand(call);
  const moves = movesWords(analysis);
  const words = listExecutables(analysis).map(({ value }) => value);
  const isKnown = analysis.understood && !moves && words.every((word) => word !== null);
  const scripts = listScriptFiles(analysis).flatMap(({ value }) => value ?? []);
  return {
    executables: isKnown ? words : null,
    scripts: scripts.filter((path) => !moves || path.startsWith('/')),
  };
}

/** Whether a word of the command may name another file than it would in the command's own folder and `PATH`. */
function movesWords({ segments, constructs }: CommandAnalysis): boolean {
  return constructs.includes('function') || listSegments(segments).some(movesInSegment);
}

function movesInSegment({ words: [first, ...rest], assignments }: Segment): boolean {
  const name = first?.value?.split('/').at(-1) ?? '';
  return (
    assignments.length > 0 ||
    MOVES_LATER_WORDS.has(name) ||
    ROOT_WRAPPERS.has(name) ||
    (MOVING_WRAPPERS.has(name) && rest.some(({ value }) => value === null || /^-|=/.test(value)))
  );
}
