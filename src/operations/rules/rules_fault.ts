import { Fault } from '../../core/fault.ts';
import type { JsonObject } from '../../core/json.ts';
import type { RulesProblem } from '../../core/rules.ts';

/** More problems than a person mends at once are left out. */
const PROBLEMS_MAX = 200;

/** Problems of policies under their wire names, as many as anybody mends at once. */
export function toWireProblems(problems: readonly RulesProblem[]): JsonObject[] {
  return problems.slice(0, PROBLEMS_MAX).map(({ policyId, message, help, line, column }) => ({
    policy_id: policyId,
    message,
    help,
    line,
    column,
  }));
}

function toFault(detail: string, problems: readonly RulesProblem[]): Fault {
  return new Fault('policy_invalid', detail, { members: { errors: toWireProblems(problems) } });
}

/** Policies that do not hold together, with themselves or with the tools that are registered. */
export function policyInvalid(problems: readonly RulesProblem[]): Fault {
  const detail =
    'the policies were refused, and what was in force stays in force. Correct what `errors` names; `POST /v1/policies/validate` tries a text without storing it';
  return toFault(detail, problems);
}

/** A former revision whose policies, tools and permissions do not go with the base rules in force. */
export function revisionInvalid(problems: readonly RulesProblem[]): Fault {
  const detail =
    'the revision does not go with the base rules in force, and nothing was changed. `errors` names what is in the way; put its policies in force with `PUT /v1/policies`, corrected';
  return toFault(detail, problems);
}

/** A change of tools that policies in force do not go with. */
export function policiesInTheWay(problems: readonly RulesProblem[]): Fault {
  const detail =
    'policies in force do not go with the change, and nothing was changed. Change those that `errors` names first, with `PUT /v1/policies`';
  return toFault(detail, problems);
}

/**
 * Rules refused because of a tool's registration: the faults of the registration itself or, where it has none, those
 * that it brings to policies.
 */
export function toolInvalid(problems: readonly RulesProblem[]): Fault {
  const own = problems.filter(({ policyId }) => policyId === null);
  if (own.length === 0) return policiesInTheWay(problems);
  return new Fault('tool_invalid', 'the registration was refused. Correct what `errors` names', {
    issues: own.slice(0, PROBLEMS_MAX).map(({ pointer, message, help }) => ({
      pointer: pointer ?? '',
      reason: help === null ? message : `${message}. ${help}`,
    })),
  });
}

/** The rules were changed since the caller read them. */
export function staleRevision(): Fault {
  return new Fault(
    'stale_version',
    'another revision is active than the one in `if-match`, and nothing was changed. Read it with `GET /v1/policies`, and change that',
  );
}
