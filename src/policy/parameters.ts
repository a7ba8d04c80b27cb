import type { JsonObject } from '../core/json.ts';
import { type Converted, toCedarValue } from './cedar_shape.ts';
import type { Operation } from './operation.ts';
import type { ParameterProblem } from './parameter_problem.ts';
import { QUOTED_FORM, quoteArgv } from './quoted_command.ts';

export type JudgedParameters = Exclude<Converted, { kind: 'absent' }>;

/** Checks a call's parameters against what its tool declares, and turns them into what Cedar can hold. */
export function judgeParameters(operation: Operation, parameters: JsonObject): JudgedParameters {
  const found = operation.checkParameters(parameters) ?? findCommandProblem(operation, parameters);
  if (found !== undefined) {
    return { kind: 'problem', problem: found };
  }
  const converted = toCedarValue(parameters, operation.shape);
  return converted.kind === 'absent' ? { kind: 'value', value: {} } : converted;
}

/** A deny's reason: the tool, the place, what is expected there. */
export function describeParameterProblem(operation: Operation, found: ParameterProblem): string {
  const place = found.pointer === '' ? 'the parameters' : `\`${found.pointer}\``;
  return `parameters of \`${operation.tool}\`/\`${operation.action}\`: ${place} ${found.expected}`;
}

/** With an argument vector no shell runs: what an approver reads as the command must be that vector, quoted. */
function findCommandProblem(operation: Operation, parameters: JsonObject): ParameterProblem | undefined {
  const { commandParameter, argvParameter } = operation;
  if (commandParameter === null || argvParameter === null || !Object.hasOwn(parameters, argvParameter)) {
    return undefined;
  }
  const argv = parameters[argvParameter];
  const words = Array.isArray(argv) ? argv.filter((word) => typeof word === 'string') : [];
  return parameters[commandParameter] === quoteArgv(words)
    ? undefined
    : {
        pointer: `/${commandParameter}`,
        expected: `must be the quoted form of \`${argvParameter}\`: ${QUOTED_FORM}`,
      };
}
