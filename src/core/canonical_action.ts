import type { ToolCall } from './action.ts';
import { canonicalize } from './canonical_json.ts';

/**
 * The canonical text (RFC 8785) of exactly the five members that are approved and hashed, whatever else the
 * object has. Throws a `TypeError` if one of them is no JSON value; an absent `resource` must be null.
 */
export function canonicalAction(call: ToolCall): string {
  return canonicalize({
    tool: call.tool,
    action: call.action,
    resource: call.resource,
    mutates_state: call.mutates_state,
    parameters: call.parameters,
  });
}
