import type { CommandCall } from '../../core/command_call.ts';
import { type CommandAnalysis, type CommandLanguage, listSegments, type Segment } from './analysis.ts';
import { guessPlatform } from './guess_platform.ts';
import { parsePosix } from './posix/parse_posix.ts';
import { hidesCommands } from './posix/variables.ts';
import { Problems, shown } from './problems.ts';
import { textsAllowed, unwrapSegments } from './unwrap/unwrap.ts';
import { literalWord } from './unwrap/word_tools.ts';
import { parseCmd } from './windows/parse_cmd.ts';
import { parsePowerShell } from './windows/parse_powershell.ts';

/**
 * What a command would run. Pure and total: every call has an analysis, in time linear in its length. With `argv`
 * the words stand for themselves and no shell reads them; else the text is that of a POSIX shell, or of `cmd` where
 * the call's paths are those of Windows.
 */
export function analyseCommand(call: CommandCall): CommandAnalysis {
  const isWindows = guessPlatform(call) === 'windows';
  const language = isWindows ? 'cmd' : 'posix';
  const flat = call.argv === null ? analyseText(call.command, language) : analyseWords(call.argv, language);
  const problems = new Problems();
  problems.addAll(flat.problems);
  noteEnvironment(problems, call);
  const constructs = new Set(flat.constructs);
  const segments = unwrapSegments(
    { analyse: analyseText, problems, constructs, left: textsAllowed(lengthOf(call)) },
    flat.segments,
  );
  const understood =
    flat.understood &&
    problems.list.length === 0 &&
    listSegments(segments).every((segment) => segment.understood);
  return { language, understood, problems: problems.list, segments, constructs: [...constructs] };
}

function lengthOf({ command, argv }: CommandCall): number {
  return argv === null ? command.length : argv.reduce((sum, word) => sum + word.length, 0);
}

/** Variables that the call sets beside the command can make it run something else. */
function noteEnvironment(problems: Problems, { env }: CommandCall): void {
  for (const [name, value] of Object.entries(env)) {
    const isEvaluated = value.includes('[') && /\$\(|`|\$\{/.test(value);
    if (hidesCommands(name) || isEvaluated) {
      problems.add('hidden_command', `${shown(name)} changes what commands run`);
    }
  }
}

function analyseText(text: string, language: CommandLanguage): CommandAnalysis {
  if (language === 'posix') return parsePosix(text);
  return language === 'cmd' ? parseCmd(text) : parsePowerShell(text);
}

/** An argument vector, each word as if it were quoted. */
function analyseWords(argv: readonly string[], language: CommandLanguage): CommandAnalysis {
  const problems = new Problems();
  if (argv.some((word) => word.includes('\0'))) {
    problems.add('control_character', 'an argument holds a null character');
  }
  if (argv[0] === undefined || argv[0] === '') problems.add('dynamic_name', 'the command has no name');
  const segment: Segment = {
    language,
    text: argv.map(quoted).join(' '),
    words: argv.map((value) => ({ ...literalWord(value), text: quoted(value) })),
    assignments: [],
    redirections: [],
    operator: null,
    inner: [],
    understood: problems.list.length === 0,
  };
  return {
    language,
    understood: segment.understood,
    problems: problems.list,
    segments: argv.length === 0 ? [] : [segment],
    constructs: [],
  };
}

function quoted(value: string): string {
  return /^[\w./:=,@%+-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
