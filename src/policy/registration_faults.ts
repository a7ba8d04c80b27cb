import type { JsonObject, JsonValue } from '../core/json.ts';
import type { ToolRegistration } from './tool_registration.ts';

export interface RegistrationFault {
  message: string;
  help: string;
}

/** Parameters that hold a command line more often than not. */
const COMMAND_NAMES = ['command', 'cmd', 'script', 'code'];

/** What is wrong with a registration beside its names and the syntax of its schema. */
export function findRegistrationFaults(registration: ToolRegistration): RegistrationFault[] {
  const faults: RegistrationFault[] = [];
  if (registration.destructive && !registration.mutates_state) {
    faults.push({
      message: 'a destructive operation changes state',
      help: 'Set `mutates_state` to true, or `destructive` to false.',
    });
  }
  if (registration.parameters_schema !== null && registration.parameters_schema.type !== 'object') {
    faults.push({
      message: '`parameters_schema` does not describe an object',
      help: 'Parameters are an object: write "type": "object" at its top.',
    });
  }
  return [...faults, ...findCommandFaults(registration)];
}

function findCommandFaults(registration: ToolRegistration): RegistrationFault[] {
  const { command_parameter, argv_parameter, parameters_schema } = registration;
  const properties = toObject(parameters_schema?.properties);
  const faults: RegistrationFault[] = [];
  const unmarked = COMMAND_NAMES.find((name) => isOfType(properties[name], 'string'));
  if (unmarked !== undefined && command_parameter === null) {
    const help = 'Name the parameter that holds a command line in `command_parameter`.';
    faults.push({ message: `parameter \`${unmarked}\` looks like a command`, help });
  }
  if (command_parameter !== null && !isOfType(properties[command_parameter], 'string')) {
    const help = 'Declare it as a string in `parameters_schema`.';
    faults.push({
      message: `\`command_parameter\` names \`${command_parameter}\`, which is no string`,
      help,
    });
  }
  if (argv_parameter !== null) {
    if (command_parameter === null || !isOfType(toObject(properties[argv_parameter]).items, 'string')) {
      const help = 'It names an array of strings, beside a `command_parameter`.';
      faults.push({
        message: `\`argv_parameter\` names \`${argv_parameter}\`, which is no argument vector`,
        help,
      });
    }
  }
  return faults;
}

function isOfType(schema: JsonValue | undefined, type: string): boolean {
  return toObject(schema).type === type;
}

function toObject(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
