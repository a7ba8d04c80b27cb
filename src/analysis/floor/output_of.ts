import type { Command } from './command.ts';
import { echoText, filterText, printfText } from './filter_text.ts';
import { readFind } from './find_rule.ts';
import { SOME, STAR, UNKNOWN } from './marks.ts';
import type { Budget } from './scope.ts';

/** What `ls` prints: names in the folder, or the operands themselves. */
function listing(args: readonly string[]): string {
  const operands = args.filter((arg) => !arg.startsWith('-'));
  const asNamed = args.some((arg) => /^-[A-Za-z0-9]*d/.test(arg));
  if (asNamed) return operands.join('\n');
  return operands.length === 0 ? STAR : SOME;
}

/** What a command prints, as a pattern, where its text alone tells; null where it does not. */
export function outputOf(command: Command, budget: Budget): string | null {
  const text = printed(command);
  if (text === null) return null;
  budget.left -= text.length;
  if (budget.left >= 0) return text;
  budget.reserve -= text.length;
  return budget.reserve < 0 ? null : text;
}

function printed({ name, args, input, ground }: Command): string | null {
  switch (name) {
    case 'echo':
      return echoText(args);
    case 'printf':
      return printfText(args);
    case 'pwd':
      return ground.folders[0] ?? SOME;
    case 'which':
    case 'type':
      return args.at(-1) ?? null;
    case 'command':
      return /^-[vV]$/.test(args[0] ?? '') ? (args[1] ?? null) : null;
    case 'ls':
      return listing(args);
    case 'find': {
      const { roots, printsEvery } = readFind(args);
      return printsEvery ? roots.join('\n') : SOME;
    }
    case 'yes':
      return args.length === 0 ? 'y' : args.join(' ');
    case 'seq':
    case 'date':
    case 'id':
    case 'whoami':
    case 'hostname':
      return SOME;
    default:
      return input === null || args.some((arg) => arg === UNKNOWN) ? null : filterText(name, args, input);
  }
}
