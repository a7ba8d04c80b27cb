import type { CommandParameters } from '../core/command_call.ts';
import { normalizeIdentifier } from '../core/identifiers.ts';
import { type JsonObject, toJsonObject } from '../core/json.ts';
import type { ToolRegistration } from '../core/tool_registration.ts';
import { EMPTY_RECORD, parametersShape } from './cedar_shape.ts';
import { closeSchema } from './closed_schema.ts';
import { buildVariants } from './facts_by.ts';
import {
  acceptAny,
  boundFacts,
  computeActionId,
  computeFactsHash,
  type MarkedParameter,
  type Operation,
} from './operation.ts';
import type { SchemaCompiler } from './parameter_checker.ts';
import type { PermissionFinder } from './permissions.ts';

/** The names that a registration goes by, in normal form. */
export interface RegisteredNames {
  tool: string;
  action: string;
  actionId: string;
  /** Ids of its aliases; undefined where an alias is no name. */
  aliasIds: (string | undefined)[];
}

/** Reads a registration's names; the reason why one cannot be a name, with its place. */
export function readNames(
  registration: ToolRegistration,
): { kind: 'names'; names: RegisteredNames } | { kind: 'refused'; pointer: string; reason: string } {
  const tool = normalizeIdentifier(registration.tool);
  if (tool.kind === 'refused') return { ...tool, pointer: '/tool' };
  const action = normalizeIdentifier(registration.action);
  if (action.kind === 'refused') return { ...action, pointer: '/action' };
  const names = {
    tool: tool.normal,
    action: action.normal,
    actionId: computeActionId(tool.normal, action.normal),
    aliasIds: registration.aliases.map(readAlias),
  };
  return { kind: 'names', names };
}

/** Makes an operation of a registration whose schema may be compiled. @throws when the schema cannot be. */
export function buildOperation(
  registration: ToolRegistration,
  { tool, action, actionId, aliasIds }: RegisteredNames,
  compile: SchemaCompiler,
  findPermission: PermissionFinder,
): Operation {
  const { parameters_schema } = registration;
  const closed = parameters_schema === null ? null : (closeSchema(parameters_schema) as JsonObject);
  const mark = (name: string): MarkedParameter => ({
    name,
    isRequired: isAlwaysGiven(parameters_schema, name),
  });
  const command = commandOf(registration);
  return {
    actionId,
    tool,
    action,
    variants: buildVariants(registration, actionId),
    permission: findPermission(
      actionId,
      registration.permission,
      aliasIds.filter((id) => id !== undefined),
    ),
    shape: closed === null ? EMPTY_RECORD : parametersShape(closed),
    paths: registration.path_parameters.map(mark),
    hosts: registration.host_parameters.map(mark),
    workspaceRoot: registration.workspace_root,
    secretParameters: registration.secret_parameters,
    checkParameters: closed === null ? acceptAny : compile(closed),
    command,
    reviewFacts: {
      registered: true,
      command,
      pathParameters: registration.path_parameters,
      hostParameters: registration.host_parameters,
    },
    factsHash: computeFactsHash(boundFacts(registration, tool, action)),
  };
}

function commandOf({ command_parameter, argv_parameter }: ToolRegistration): CommandParameters | null {
  return command_parameter === null ? null : { parameter: command_parameter, argvParameter: argv_parameter };
}

/** Whether the schema has a parameter in every call, and never null. */
function isAlwaysGiven(schema: JsonObject | null, name: string): boolean {
  const required = schema?.required;
  const property = toJsonObject(toJsonObject(schema?.properties)[name]);
  return Array.isArray(required) && required.includes(name) && property.type === 'string';
}

function readAlias(alias: string): string | undefined {
  const [rawTool, rawAction, ...rest] = alias.split('/');
  if (rawTool === undefined || rawAction === undefined || rest.length > 0) return undefined;
  const tool = normalizeIdentifier(rawTool);
  const action = normalizeIdentifier(rawAction);
  return tool.kind === 'normal' && action.kind === 'normal'
    ? computeActionId(tool.normal, action.normal)
    : undefined;
}
