import { normalizeIdentifier } from '../core/identifiers.ts';
import type { JsonObject } from '../core/json.ts';
import { formatPointer } from '../core/json_rules.ts';
import type { ToolPermission } from '../core/rules.ts';
import type { ToolRegistration } from '../core/tool_registration.ts';
import { buildOperation, type RegisteredNames, readNames } from './build_operation.ts';
import { computeActionId, type Operation, unregisteredOperation } from './operation.ts';
import { createSchemaCompiler, type SchemaCompiler } from './parameter_checker.ts';
import { createPermissionFinder, findPermissionFaults, type PermissionFinder } from './permissions.ts';
import { type PolicySetProblem, problem } from './policy_set_error.ts';
import type { RegistrationFault } from './registration_fault.ts';
import { findRegistrationFaults } from './registration_faults.ts';
import { findSchemaFaults } from './schema_limits.ts';
import { shareChecker } from './shared_checkers.ts';

/** What a call's names stand for. `refused` names mean nothing; the HTTP layer has answered them before. */
export type Resolution =
  | { kind: 'registered'; operation: Operation }
  | { kind: 'unregistered'; operation: Operation }
  | { kind: 'refused'; reason: string };

/** The registered operations, by their names and aliases. */
export interface Registry {
  /** @throws when a registration that was not checked cannot be compiled. */
  resolve(rawTool: string, rawAction: string): Resolution;
}

/** A registry of which everything was looked at. */
export interface CheckedRegistry extends Registry {
  operations: readonly Operation[];
  /** Everything registered, in the order of action ids, as it enters the revision. */
  registrations: readonly JsonObject[];
}

/** Builds the whole registry, or says everything that is wrong with the registrations and permissions. */
export function buildRegistry(
  tools: readonly ToolRegistration[],
  permissions: readonly ToolPermission[] = [],
): { registry: CheckedRegistry; problems: PolicySetProblem[] } {
  const findPermission = createPermissionFinder(permissions);
  const compile = createSchemaCompiler();
  const byName = new Map<string, Operation>();
  const problems = findPermissionFaults(permissions).map((fault) => toProblem('', fault));
  const built = tools.flatMap((registration) => {
    const checked = checkRegistration(registration, compile, findPermission);
    const { names, operation } = checked;
    const taken = names === undefined ? [] : findTaken(names, byName);
    problems.push(
      ...[...checked.faults, ...taken].map((fault) => toProblem(describeTool(registration), fault)),
    );
    if (names === undefined || operation === undefined) return [];
    for (const id of namesOf(names)) byName.set(id, operation);
    return [{ actionId: names.actionId, operation, registration: { ...registration } }];
  });
  built.sort((a, b) => (a.actionId < b.actionId ? -1 : 1));
  const registry = {
    operations: built.map(({ operation }) => operation),
    registrations: built.map(({ registration }) => registration),
    resolve: createResolver((id) => byName.get(id), findPermission),
  };
  return { registry, problems };
}

/**
 * Opens a registry of registrations in which `buildRegistry` found nothing wrong. What is costly, an operation's
 * schema above all, is made when the operation is first called.
 */
export function openRegistry(
  tools: readonly ToolRegistration[],
  permissions: readonly ToolPermission[],
): Registry {
  const findPermission = createPermissionFinder(permissions);
  const makers = new Map<string, () => Operation>();
  for (const registration of tools) {
    const read = readNames(registration);
    if (read.kind === 'refused') throw new TypeError('a registration that was not checked');
    let operation: Operation | undefined;
    const make = (): Operation => {
      operation ??= buildOperation(registration, read.names, shareChecker, findPermission);
      return operation;
    };
    for (const id of namesOf(read.names)) makers.set(id, make);
  }
  return { resolve: createResolver((id) => makers.get(id)?.(), findPermission) };
}

function checkRegistration(
  registration: ToolRegistration,
  compile: SchemaCompiler,
  findPermission: PermissionFinder,
): { faults: RegistrationFault[]; names?: RegisteredNames; operation?: Operation } {
  const read = readNames(registration);
  if (read.kind === 'refused') {
    return { faults: [{ pointer: read.pointer, message: `the name ${read.reason}`, help: 'Rename it.' }] };
  }
  const { names } = read;
  const faults = [
    ...findRegistrationFaults(registration),
    ...findAliasFaults(names),
    ...findInSchema(registration),
  ];
  if (faults.length > 0) return { faults, names };
  try {
    return { faults, names, operation: buildOperation(registration, names, compile, findPermission) };
  } catch (error) {
    const message = `\`parameters_schema\`: ${error instanceof Error ? error.message : 'cannot be compiled'}`;
    return { faults: [{ pointer: '/parameters_schema', message, help: 'Correct the JSON Schema.' }], names };
  }
}

function findInSchema({ parameters_schema }: ToolRegistration): RegistrationFault[] {
  const faults = parameters_schema === null ? [] : findSchemaFaults(parameters_schema);
  return faults.map(({ pointer, message, help }) => ({
    pointer: `/parameters_schema${pointer}`,
    message: `\`parameters_schema${pointer}\` ${message}`,
    help,
  }));
}

function findAliasFaults({ aliasIds }: RegisteredNames): RegistrationFault[] {
  return aliasIds.flatMap((id, index) => {
    const help = 'Write aliases as "tool/action" with one slash.';
    const pointer = formatPointer(['aliases', index]);
    return id === undefined ? [{ pointer, message: 'an alias is no name', help }] : [];
  });
}

/** Names that another operation has, or that this one gives itself twice. */
function findTaken(names: RegisteredNames, byName: ReadonlyMap<string, Operation>): RegistrationFault[] {
  const own = new Set<string>();
  return [names.actionId, ...names.aliasIds].flatMap((id, index) => {
    if (id === undefined) return [];
    const isTaken = byName.has(id) || own.has(id);
    own.add(id);
    const pointer = index === 0 ? '/action' : formatPointer(['aliases', index - 1]);
    const help = 'Names and aliases are compared in normal form (decoded, trimmed, lower case). Rename one.';
    return isTaken ? [{ pointer, message: `\`${id}\` is already registered`, help }] : [];
  });
}

function namesOf({ actionId, aliasIds }: RegisteredNames): string[] {
  return [actionId, ...aliasIds.filter((id) => id !== undefined)];
}

function describeTool({ tool, action }: ToolRegistration): string {
  return `tool \`${tool}\`/\`${action}\`: `;
}

function toProblem(named: string, { pointer, message, help }: RegistrationFault): PolicySetProblem {
  return problem(`${named}${message}`, help, { pointer });
}

function createResolver(
  find: (actionId: string) => Operation | undefined,
  findPermission: PermissionFinder,
): Registry['resolve'] {
  return (rawTool, rawAction) => {
    // A normal form is its own normal form, so a name that is found as it is needs no normalising.
    const exact = find(computeActionId(rawTool, rawAction));
    if (exact !== undefined) return { kind: 'registered', operation: exact };
    const tool = normalizeIdentifier(rawTool);
    if (tool.kind === 'refused') return { kind: 'refused', reason: `the tool's name ${tool.reason}` };
    const action = normalizeIdentifier(rawAction);
    if (action.kind === 'refused') return { kind: 'refused', reason: `the action's name ${action.reason}` };
    const id = computeActionId(tool.normal, action.normal);
    const operation = find(id);
    if (operation !== undefined) return { kind: 'registered', operation };
    const permission = findPermission(id, null);
    return { kind: 'unregistered', operation: unregisteredOperation(tool.normal, action.normal, permission) };
  };
}
