#!/usr/bin/env node
import { OperatorError } from '../core/operator_error.ts';
import { type CommandGroup, groupUsage, isHelp, runGroup } from './command.ts';
import { oneLine } from './config_values.ts';
import { describeError } from './describe_error.ts';
import { TERMINAL } from './terminal.ts';

// Each command is loaded when it is called: a person who approves from a terminal does not wait for the service's code.

/** Commands for people who decide, and who check what was decided. */
const PEOPLE = {
  approvals: async () => (await import('./approvals/commands.ts')).APPROVALS_COMMANDS,
  'exec-approvals': async () => (await import('./exec_approvals/commands.ts')).EXEC_APPROVALS_COMMANDS,
  'verify-vote': async () => (await import('./verify_vote.ts')).VERIFY_VOTE,
};

/** Commands for people who write policies. */
const AUTHORS = {
  policy: async () => (await import('./policy/commands.ts')).POLICY_COMMANDS,
  tools: async () => (await import('./tools/commands.ts')).TOOLS_COMMANDS,
};

const GROUPS: Readonly<Record<string, () => Promise<CommandGroup>>> = { ...PEOPLE, ...AUTHORS };

async function listUsages(load: () => Promise<CommandGroup>): Promise<string> {
  return groupUsage(await load()).replace('Usage:\n', '');
}

async function writeUsage(): Promise<string> {
  const { KEYS_USAGE } = await import('./keys_command.ts');
  const authors = await Promise.all(Object.values(AUTHORS).map(listUsages));
  return `Usage:
  aegis serve
      serves on PORT (8080), with an embedded PostgreSQL or DATABASE_URL
  ${KEYS_USAGE}
      makes a key and prints its token
${await listUsages(PEOPLE['exec-approvals'])}

For people who decide, with AEGIS_URL and AEGIS_KEY; \`aegis approvals help\` says what the exit codes mean:
${await listUsages(PEOPLE.approvals)}

For people who check what was decided, without the service:
${await listUsages(PEOPLE['verify-vote'])}

For people who write policies; DIR is AEGIS_POLICY_DIR, or \`policies\`, unless given:
${authors.join('\n')}`;
}

async function run([command, ...args]: string[]): Promise<void> {
  if (command === 'serve' && args.length === 0) return (await import('./serve.ts')).serve();
  if (command === 'keys') return (await import('./keys_command.ts')).keysCommand(args);
  const load = command !== undefined && Object.hasOwn(GROUPS, command) ? GROUPS[command] : undefined;
  if (command !== undefined && load !== undefined) {
    const group = await load();
    // A command that is its group's only one goes by the group's name.
    const words = Object.hasOwn(group.commands, command) ? [command, ...args] : args;
    process.exitCode = await runGroup(group, words, TERMINAL);
    return;
  }
  if (isHelp(command)) {
    console.log(await writeUsage());
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
