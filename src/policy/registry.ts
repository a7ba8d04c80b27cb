import { normalizeIdentifier } from '../core/identifiers.ts';
import type { JsonObject } from '../core/json.ts';
import { EMPTY_RECORD, parametersShape } from './cedar_shape.ts';
import { closeSchema } from './closed_schema.ts';
import {
  actionGroupsOf,
  boundFacts,
  computeActionId,
  computeFactsHash,
  factsOf,
  type Operation,
  UNREGISTERED_ACTION,
  UNREGISTERED_FACTS,
} from './operation.ts';
import { createSchemaCompiler, type ParameterChecker } from './parameter_checker.ts';
import { type PolicySetProblem, problem } from './policy_set_error.ts';
import { findRegistrationFaults } from './registration_faults.ts';
import type { ToolRegistration } from './tool_registration.ts';

/** What a call's names stand for. `refused` names mean nothing; the HTTP layer has answered them before. */
export type Resolution =
  | { kind: 'registered'; operation: Operation }
  | { kind: 'unregistered'; operation: Operation }
  | { kind: 'refused'; reason: string };

/** The registered operations, by their names and aliases. */
export interface Registry {
  operations: readonly Operation[];
  /** Everything registered, in the order of action ids, as it enters the revision. */
  registrations: readonly JsonObject[];
  resolve(rawTool: string, rawAction: string): Resolution;
}

type SchemaCompiler = (closedSchema: JsonObject) => ParameterChecker;

const UNREGISTERED_FACTS_HASH = computeFactsHash({ ...UNREGISTERED_FACTS });

/** Builds the registry, or says everything that is wrong with the registrations. */
export function buildRegistry(tools: readonly ToolRegistration[]): {
  registry: Registry;
  problems: PolicySetProblem[];
} {
  const problems: PolicySetProblem[] = [];
  const byName = new Map<string, Operation>();
  const operations: Operation[] = [];
  const compile = createSchemaCompiler();
  for (const registration of tools) {
    const named = `tool \`${registration.tool}\`/\`${registration.action}\``;
    const built = buildOperation(registration, compile);
    problems.push(...built.faults.map(({ message, help }) => problem(`${named}: ${message}`, help)));
    if (built.operation === undefined) continue;
    operations.push(built.operation);
    for (const name of [built.operation.actionId, ...built.aliasIds]) {
      if (byName.has(name)) {
        const help =
          'Names and aliases are compared in normal form (decoded, trimmed, lower case). Rename one.';
        problems.push(problem(`${named}: \`${name}\` is already registered`, help));
      }
      byName.set(name, built.operation);
    }
  }
  operations.sort((a, b) => (a.actionId < b.actionId ? -1 : 1));
  const registrations = tools
    .map((tool): [string, JsonObject] => [computeActionId(tool.tool, tool.action), { ...tool }])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, registration]) => registration);
  return { registry: { operations, registrations, resolve: createResolver(byName) }, problems };
}

function buildOperation(registration: ToolRegistration, compile: SchemaCompiler) {
  const tool = normalizeIdentifier(registration.tool);
  const action = normalizeIdentifier(registration.action);
  if (tool.kind === 'refused' || action.kind === 'refused') {
    const reason = tool.kind === 'refused' ? tool.reason : action.kind === 'refused' ? action.reason : '';
    return {
      faults: [{ message: `the name ${reason}`, help: 'Rename it.' }],
      aliasIds: [],
      operation: undefined,
    };
  }
  const faults = findRegistrationFaults(registration);
  const aliasIds = registration.aliases.map(aliasId);
  if (aliasIds.includes(undefined)) {
    faults.push({ message: 'an alias is no name', help: 'Write aliases as "tool/action" with one slash.' });
  }
  const parameters = compileParameters(registration.parameters_schema, compile);
  if (parameters.kind === 'fault') {
    faults.push({
      message: `\`parameters_schema\`: ${parameters.message}`,
      help: 'Correct the JSON Schema.',
    });
  }
  const facts = factsOf(registration);
  const operation: Operation = {
    actionId: computeActionId(tool.normal, action.normal),
    actionGroups: actionGroupsOf(facts),
    tool: tool.normal,
    action: action.normal,
    facts,
    shape: parameters.kind === 'fault' ? EMPTY_RECORD : parameters.shape,
    checkParameters: parameters.kind === 'fault' ? acceptAny : parameters.check,
    commandParameter: registration.command_parameter,
    argvParameter: registration.argv_parameter,
    factsHash: computeFactsHash(boundFacts(registration, tool.normal, action.normal)),
  };
  return { faults, aliasIds: aliasIds.filter((id) => id !== undefined), operation };
}

function compileParameters(schema: JsonObject | null, compile: SchemaCompiler) {
  if (schema === null) {
    return { kind: 'compiled', shape: EMPTY_RECORD, check: acceptAny } as const;
  }
  try {
    const closed = closeSchema(schema) as JsonObject;
    return { kind: 'compiled', shape: parametersShape(closed), check: compile(closed) } as const;
  } catch (error) {
    return { kind: 'fault', message: error instanceof Error ? error.message : 'cannot be compiled' } as const;
  }
}

function createResolver(byName: ReadonlyMap<string, Operation>): Registry['resolve'] {
  return (rawTool, rawAction) => {
    // A normal form is its own normal form, so a name that is found as it is needs no normalising.
    const exact = byName.get(computeActionId(rawTool, rawAction));
    if (exact !== undefined) return { kind: 'registered', operation: exact };
    const tool = normalizeIdentifier(rawTool);
    if (tool.kind === 'refused') return { kind: 'refused', reason: `the tool's name ${tool.reason}` };
    const action = normalizeIdentifier(rawAction);
    if (action.kind === 'refused') return { kind: 'refused', reason: `the action's name ${action.reason}` };
    const operation = byName.get(computeActionId(tool.normal, action.normal));
    return operation === undefined
      ? { kind: 'unregistered', operation: unregisteredOperation(tool.normal, action.normal) }
      : { kind: 'registered', operation };
  };
}

function unregisteredOperation(tool: string, action: string): Operation {
  return {
    actionId: UNREGISTERED_ACTION,
    actionGroups: actionGroupsOf(UNREGISTERED_FACTS),
    tool,
    action,
    facts: UNREGISTERED_FACTS,
    shape: EMPTY_RECORD,
    checkParameters: acceptAny,
    commandParameter: null,
    argvParameter: null,
    factsHash: UNREGISTERED_FACTS_HASH,
  };
}

function aliasId(alias: string): string | undefined {
  const [rawTool, rawAction, ...rest] = alias.split('/');
  if (rawTool === undefined || rawAction === undefined || rest.length > 0) return undefined;
  const tool = normalizeIdentifier(rawTool);
  const action = normalizeIdentifier(rawAction);
  return tool.kind === 'normal' && action.kind === 'normal'
    ? computeActionId(tool.normal, action.normal)
    : undefined;
}

/** A tool registered without a schema: its parameters are neither checked nor shown to policy. */
function acceptAny(): undefined {
  return undefined;
}
