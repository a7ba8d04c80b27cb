export type { CommandOutput, CommandResult } from './command_output.ts';
export type { CommandParameters } from './command_parameters.ts';
export type { CommandSpec } from './command_settings.ts';
export { type CommandInput, type GuardedCommand, protectCommand } from './protect_command.ts';
