import { isWorkspaceRoot } from '../analysis/paths/path_facts.ts';
import { type JsonObject, type JsonValue, toJsonObject } from '../core/json.ts';
import { formatPointer, RESERVED_MEMBERS } from '../core/json_rules.ts';
import { factsFor, type RegisteredFacts, type ToolRegistration } from '../core/tool_registration.ts';
import type { RegistrationFault } from './registration_fault.ts';

/** Parameters that hold a command line more often than not: without `command_parameter` they refuse a registration. */
export const COMMAND_NAMES: readonly string[] = ['command', 'cmd', 'script', 'code'];

/** Whether a declared parameter is one that a member may name. */
type Kind = { fits: (schema: JsonObject) => boolean; expected: string };

const STRING: Kind = {
  fits: ({ type }) => type === 'string' || (Array.isArray(type) && isNullableString(type)),
  expected: 'a string',
};
const ANY: Kind = { fits: () => true, expected: 'a parameter' };

/** What is wrong with a registration beside its names and the inside of its schema. */
export function findRegistrationFaults(registration: ToolRegistration): RegistrationFault[] {
  const { parameters_schema, workspace_root } = registration;
  const faults: RegistrationFault[] = [];
  if (parameters_schema !== null && parameters_schema.type !== 'object') {
    faults.push({
      pointer: '/parameters_schema/type',
      message: '`parameters_schema` does not describe an object',
      help: 'Parameters are an object: write "type": "object" at its top.',
    });
  }
  if (workspace_root !== null && !isWorkspaceRoot(workspace_root)) {
    const help = 'Write it as an absolute POSIX path without `..`, escapes and backslashes.';
    faults.push({ pointer: '/workspace_root', message: '`workspace_root` is no absolute path', help });
  }
  return [
    ...faults,
    ...findContradictions('/destructive', registration),
    ...findFactsByFaults(registration),
    ...findMarkFaults(registration),
    ...findCommandFaults(registration),
  ];
}

function findContradictions(pointer: string, facts: RegisteredFacts): RegistrationFault[] {
  if (!facts.destructive || facts.mutates_state) return [];
  const help = 'Set `mutates_state` to true, or `destructive` to false.';
  return [{ pointer, message: 'a destructive operation changes state', help }];
}

function findFactsByFaults(registration: ToolRegistration): RegistrationFault[] {
  const { facts_by, parameters_schema } = registration;
  if (facts_by === null) return [];
  return [
    ...findUndeclared('/facts_by/parameter', facts_by.parameter, parameters_schema, STRING),
    ...Object.keys(facts_by.values).flatMap((value) =>
      findContradictions(formatPointer(['facts_by', 'values', value]), factsFor(registration, value)),
    ),
  ];
}

function findMarkFaults(registration: ToolRegistration): RegistrationFault[] {
  const marks: [member: 'secret_parameters' | 'path_parameters' | 'host_parameters', kind: Kind][] = [
    ['secret_parameters', ANY],
    ['path_parameters', STRING],
    ['host_parameters', STRING],
  ];
  return marks.flatMap(([member, kind]) =>
    registration[member].flatMap((name, index, names) => {
      const pointer = formatPointer([member, index]);
      if (names.indexOf(name) < index) {
        return [{ pointer, message: `\`${member}\` names \`${name}\` twice`, help: 'Remove one.' }];
      }
      return findUndeclared(pointer, name, registration.parameters_schema, kind);
    }),
  );
}

function findCommandFaults(registration: ToolRegistration): RegistrationFault[] {
  const { command_parameter, argv_parameter, parameters_schema } = registration;
  const properties = toJsonObject(parameters_schema?.properties);
  const unmarked = COMMAND_NAMES.find(
    (name) => isDeclared(properties, name) && STRING.fits(toJsonObject(properties[name])),
  );
  const faults: RegistrationFault[] = [];
  if (unmarked !== undefined && command_parameter === null) {
    const help = 'Name the parameter that holds a command line in `command_parameter`.';
    const pointer = formatPointer(['parameters_schema', 'properties', unmarked]);
    faults.push({ pointer, message: `parameter \`${unmarked}\` looks like a command`, help });
  }
  if (command_parameter !== null) {
    faults.push(...findUndeclared('/command_parameter', command_parameter, parameters_schema, STRING));
  }
  if (argv_parameter === null) return faults;
  const items = toJsonObject(toJsonObject(properties[argv_parameter]).items);
  if (command_parameter === null || items.type !== 'string') {
    const help = 'It names an array of strings, beside a `command_parameter`.';
    const message = `\`argv_parameter\` names \`${argv_parameter}\`, which is no argument vector`;
    faults.push({ pointer: '/argv_parameter', message, help });
  }
  return faults;
}

/** A member that names a parameter which the schema does not declare, or declares as something else. */
function findUndeclared(
  pointer: string,
  name: string,
  schema: JsonObject | null,
  kind: Kind,
): RegistrationFault[] {
  const properties = toJsonObject(schema?.properties);
  if (
    isDeclared(properties, name) &&
    !RESERVED_MEMBERS.has(name) &&
    kind.fits(toJsonObject(properties[name]))
  )
    return [];
  const help = `Declare \`${name}\` as ${kind.expected} at the top of \`parameters_schema\`.`;
  return [
    {
      pointer,
      message: `\`${pointer.slice(1)}\` names \`${name}\`, which is not declared as ${kind.expected}`,
      help,
    },
  ];
}

function isNullableString(types: JsonValue[]): boolean {
  return types.includes('string') && types.every((type) => type === 'string' || type === 'null');
}

function isDeclared(properties: JsonObject, name: string): boolean {
  return Object.hasOwn(properties, name);
}
