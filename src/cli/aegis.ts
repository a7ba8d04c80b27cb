#!/usr/bin/env node
import { OperatorError } from '../core/operator_error.ts';
import { oneLine } from './config_values.ts';
import { describeError } from './describe_error.ts';
import { KEYS_USAGE, keysCommand } from './keys_command.ts';
import { serve } from './serve.ts';

const USAGE = `Usage:
  aegis serve        serve on PORT (8080), with an embedded PostgreSQL or DATABASE_URL
  ${KEYS_USAGE}
                     make a key and print its token`;

async function run([command, ...args]: string[]): Promise<void> {
  if (command === 'serve' && args.length === 0) return serve();
  if (command === 'keys') return keysCommand(args);
  if (command === 'help' || command === '--help' || command === '-h') {
    console.log(USAGE);
    return;
  }
  const what =
    command === undefined
      ? 'no command given'
      : `unknown command \`${oneLine([command, ...args].join(' '))}\``;
  throw new OperatorError(`${what}. Run \`aegis help\` for those there are`);
}

run(process.argv.slice(2)).catch((error: unknown) => {
  console.error(describeError(error));
  process.exit(1);
});
