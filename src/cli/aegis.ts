#!/usr/bin/env node
import { OperatorError } from '../core/operator_error.ts';
import { groupUsage, isHelp, runGroup } from './command.ts';
import { oneLine } from './config_values.ts';
import { describeError } from './describe_error.ts';
import { EXEC_APPROVALS_COMMANDS } from './exec_approvals/commands.ts';
import { KEYS_USAGE, keysCommand } from './keys_command.ts';
import { POLICY_COMMANDS } from './policy/commands.ts';
import { serve } from './serve.ts';
import { TERMINAL } from './terminal.ts';
import { TOOLS_COMMANDS } from './tools/commands.ts';

const USAGE = `Usage:
  aegis serve
      serves on PORT (8080), with an embedded PostgreSQL or DATABASE_URL
  ${KEYS_USAGE}
      makes a key and prints its token
${groupUsage(EXEC_APPROVALS_COMMANDS).replace('Usage:\n', '')}

For people who write policies; DIR is AEGIS_POLICY_DIR, or \`policies\`, unless given:
${[POLICY_COMMANDS, TOOLS_COMMANDS].map((group) => groupUsage(group).replace('Usage:\n', '')).join('\n')}`;

async function run([command, ...args]: string[]): Promise<void> {
  if (command === 'serve' && args.length === 0) return serve();
  if (command === 'keys') return keysCommand(args);
  const group = [EXEC_APPROVALS_COMMANDS, POLICY_COMMANDS, TOOLS_COMMANDS].find(
    ({ name }) => name === command,
  );
  if (group !== undefined) {
    process.exitCode = await runGroup(group, args, TERMINAL);
    return;
  }
  if (isHelp(command)) {
    console.log(USAGE);
    return;
  }
  const what =
    command === undefined
      ? 'no command given'
      : `unknown command \`${oneLine([command, ...args].join(' '))}\``;
  throw new OperatorError(`${what}. Run \`aegis help\` for those there are`);
}

// Whoever reads the output may stop before its end, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

run(process.argv.slice(2)).catch((error: unknown) => {
  console.error(describeError(error));
  process.exit(1);
});
