import { type ParseArgsConfig, parseArgs } from 'node:util';
import { OperatorError } from '../core/operator_error.ts';
import { oneLine } from './config_values.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/** How many arguments a command takes beside its options. */
export interface Positionals {
  min: number;
  max: number;
}

const NONE: Positionals = { min: 0, max: 0 };

/**
 * Reads a command's arguments.
 * @throws OperatorError in one line with the usage, for an option that is unknown or has no value, and for too few or
 *   too many arguments.
 */
export function readArguments<const Known extends Options>(
  args: string[],
  options: Known,
  usage: string,
  positionals: Positionals = NONE,
) {
  try {
    const read = parseArgs({ args, options, allowPositionals: positionals.max > 0 });
    const surplus = read.positionals[positionals.max];
    if (surplus !== undefined) {
      throw new OperatorError(`Unexpected argument \`${oneLine(surplus)}\`. Usage: ${usage}`);
    }
    if (read.positionals.length < positionals.min) throw new OperatorError(`Usage: ${usage}`);
    return read;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    // node's own message goes on with advice for scripts; its first sentence names the option.
    const [what = ''] = error instanceof Error ? error.message.split('. ') : [];
    throw new OperatorError(`${oneLine(what.replaceAll("'", '`'))}. Usage: ${usage}`, error);
  }
}
