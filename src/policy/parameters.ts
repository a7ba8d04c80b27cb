import { readHost } from '../analysis/paths/host_facts.ts';
import { readPath } from '../analysis/paths/path_facts.ts';
import type { JsonObject } from '../core/json.ts';
import { formatPointer } from '../core/json_rules.ts';
import { QUOTED_FORM, quoteArgv } from '../core/quote_argv.ts';
import type { CedarValueJson } from './cedar.ts';
import { toCedarValue } from './cedar_shape.ts';
import type { Operation } from './operation.ts';
import type { ParameterProblem } from './parameter_problem.ts';

/** What policy is told of a call's parameters, in Cedar's form. */
export interface ParameterFacts {
  parameters: CedarValueJson;
  /** `{raw, normal, inside_workspace}` of each path that the call has, and `{host, port}` of each host. */
  paths: Record<string, CedarValueJson>;
  hosts: Record<string, CedarValueJson>;
}

export type JudgedParameters =
  | { kind: 'facts'; facts: ParameterFacts }
  | { kind: 'problem'; problem: ParameterProblem };

/**
 * Checks a call's parameters against what its tool declares, and turns them into what Cedar can hold. `keyRoot` is the
 * workspace root of the key; without one the registry's holds.
 */
export function judgeParameters(
  operation: Operation,
  parameters: JsonObject,
  keyRoot: string | null,
): JudgedParameters {
  const found = operation.checkParameters(parameters) ?? findCommandProblem(operation, parameters);
  if (found !== undefined) {
    return { kind: 'problem', problem: found };
  }
  const converted = toCedarValue(parameters, operation.shape);
  if (converted.kind === 'problem') return converted;
  const hosts = readHosts(operation, parameters);
  if (hosts.kind === 'problem') return hosts;
  const facts = {
    parameters: converted.kind === 'value' ? converted.value : {},
    paths: readPaths(operation, parameters, keyRoot ?? operation.workspaceRoot),
    hosts: hosts.hosts,
  };
  return { kind: 'facts', facts };
}

/** A deny's reason: the tool, the place, what is expected there. */
export function describeParameterProblem(operation: Operation, found: ParameterProblem): string {
  const place = found.pointer === '' ? 'the parameters' : `\`${found.pointer}\``;
  return `parameters of \`${operation.tool}\`/\`${operation.action}\`: ${place} ${found.expected}`;
}

function readPaths(
  { paths }: Operation,
  parameters: JsonObject,
  root: string | null,
): ParameterFacts['paths'] {
  const found: ParameterFacts['paths'] = {};
  for (const { name } of paths) {
    const text = findText(parameters, name);
    if (text !== undefined) found[name] = { ...readPath(text, root) };
  }
  return found;
}

function readHosts({ hosts }: Operation, parameters: JsonObject) {
  const found: ParameterFacts['hosts'] = {};
  for (const { name } of hosts) {
    const text = findText(parameters, name);
    if (text === undefined) continue;
    const host = readHost(text);
    if (host === undefined) {
      const expected = 'must be a host, a host with its port, or a URL';
      return { kind: 'problem', problem: { pointer: formatPointer([name]), expected } } as const;
    }
    found[name] = { ...host };
  }
  return { kind: 'hosts', hosts: found } as const;
}

function findText(parameters: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** With an argument vector no shell runs: what an approver reads as the command must be that vector, quoted. */
function findCommandProblem(operation: Operation, parameters: JsonObject): ParameterProblem | undefined {
  const { parameter, argvParameter = null } = operation.command ?? {};
  if (parameter === undefined || argvParameter === null || !Object.hasOwn(parameters, argvParameter)) {
    return undefined;
  }
  const argv = parameters[argvParameter];
  const words = Array.isArray(argv) ? argv.filter((word) => typeof word === 'string') : [];
  return parameters[parameter] === quoteArgv(words)
    ? undefined
    : {
        pointer: `/${parameter}`,
        expected: `must be the quoted form of \`${argvParameter}\`: ${QUOTED_FORM}`,
      };
}
