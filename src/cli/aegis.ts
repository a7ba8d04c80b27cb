#!/usr/bin/env node
import { EmbeddedPostgresError } from '../storage/embedded/embedded_postgres.ts';
import { ConfigError } from './config.ts';
import { KEYS_USAGE, keysCommand } from './keys_command.ts';
import { serve } from './serve.ts';
import { UsageError } from './usage_error.ts';

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
  throw new UsageError(USAGE);
}

/** One line for what an operator can mend; the whole error for what only its author can. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected =
    error instanceof ConfigError ||
    error instanceof EmbeddedPostgresError ||
    error instanceof UsageError ||
    error.message.includes('. ');
  return isExpected ? error.message : (error.stack ?? error.message);
}

run(process.argv.slice(2)).catch((error: unknown) => {
  console.error(describe(error));
  process.exit(1);
});
