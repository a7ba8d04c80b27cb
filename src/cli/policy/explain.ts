import { z } from 'zod';
import type { JsonValue } from '../../core/json.ts';
import { formatPointer } from '../../core/json_rules.ts';
import { OperatorError } from '../../core/operator_error.ts';
import type { Explanation } from '../../core/policy.ts';
import { parseStrictJson, StrictJsonError } from '../../core/strict_json.ts';
import { findAskOrigins } from '../../policy/ask_origins.ts';
import { CALL_MEMBERS, type CallMembers, toDecisionRequest } from '../../policy/call_request.ts';
import { readArguments } from '../arguments.ts';
import type { Command } from '../command.ts';
import { describeInput, readInput } from '../input_file.ts';
import { toJsonText, visible } from '../terminal.ts';
import { formatExplanation } from './explanation.ts';
import { findPolicyDirectory, openFolder } from './folder.ts';

const USAGE = 'aegis policy explain [DIR] --request FILE|- [--json]';
/** As many as the service reads of a request. */
const REQUEST_BYTES_MAX = 1024 * 1024;

// `action_hash` and `dry_run` stand in requests that were sent; they are nothing to policy.
const requestFile = z.strictObject({
  ...CALL_MEMBERS,
  action_hash: z.string().optional(),
  dry_run: z.boolean().optional(),
});

/** `aegis policy explain`: what a folder decides of one call, and which policies had what to do with it. */
export const explain: Command = {
  usage: USAGE,
  summary:
    'decides a call (an authorize body, and `agent`, `groups`, `owner`, `risk_tier`, `paused`, `routable`, `denied_before` as wanted) and says why',
  run: async (args, terminal) => {
    const options = { json: { type: 'boolean' }, request: { type: 'string' } } as const;
    const { values, positionals } = readArguments(args, options, USAGE, { min: 0, max: 1 });
    if (values.request === undefined) throw new OperatorError(`\`--request\` is missing. Usage: ${USAGE}`);
    const call = await readRequest(values.request);
    const folder = await openFolder(findPolicyDirectory(positionals[0]));
    const { request, standing } = toDecisionRequest(call, {
      sourceTrust: 'unknown',
      now: new Date().toISOString(),
    });
    const explanation = folder.set.explain(request, standing);
    terminal.print(
      values.json === true
        ? toJsonText(toWire(explanation))
        : formatExplanation(terminal, explanation, folder.places),
    );
    return 0;
  },
};

async function readRequest(path: string): Promise<CallMembers> {
  const parsed = requestFile.safeParse(parseJson(await readInput(path, REQUEST_BYTES_MAX), path));
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(
    (issue) => `\`${formatPointer(issue.path.map(String))}\`: ${issue.message}`,
  );
  throw new OperatorError(visible(`${describeInput(path)} is no request: ${faults.join('; ')}`));
}

function parseJson(bytes: Uint8Array, path: string): JsonValue {
  try {
    return parseStrictJson(bytes);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw new OperatorError(visible(`${describeInput(path)}: ${error.message}. Write it as strict JSON`));
  }
}

function toWire({ decision, contributions, facts }: Explanation) {
  const isAsk = decision.decision === 'require_approval';
  return {
    decision: decision.decision,
    reason: decision.reason,
    determining_policies: decision.determiningPolicies,
    policy_revision: decision.policyRevision,
    resolved: decision.resolved,
    denial: decision.decision === 'deny' ? decision.denial : null,
    demands: isAsk ? findAskOrigins(decision, contributions) : null,
    contributions: contributions.map(({ policyId, effect, applied, annotations }) => ({
      policy_id: policyId,
      effect,
      applied,
      annotations,
    })),
    facts,
  };
}
