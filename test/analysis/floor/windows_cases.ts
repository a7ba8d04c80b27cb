import { readFileSync } from 'node:fs';
import type { CommandCall } from '../../../src/core/command_call.ts';

function linesOf(file: string): string[] {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  return text.split('\n').filter((line) => line !== '');
}

/** Commands that destroy a machine, each with its rule. */
export const floorCases: { rule: string; command: string }[] = linesOf('windows_floor.txt').map((line) => {
  const [rule = '', command = ''] = line.split('\t');
  return { rule, command };
});

/** Commands that only look like them. */
export const safeCases: string[] = linesOf('windows_safe.txt');

/** A call of a command with nothing else stated but what is given. */
export function callOf(
  command: string,
  given: Partial<Pick<CommandCall, 'cwd' | 'env' | 'argv'>> = {},
): CommandCall {
  return { command, argv: null, cwd: null, env: {}, resolvedPaths: null, fileDigests: {}, ...given };
}
