import type { ToolCall } from './action.ts';
import { canonicalAction } from './canonical_action.ts';
import { type Sha256Hex, sha256Hex } from './digest.ts';

/** The hash an approval is bound to: SHA-256 of the canonical action's UTF-8 bytes. Throws as `canonicalAction`. */
export function computeActionHash(call: ToolCall): Sha256Hex {
  return sha256Hex(canonicalAction(call));
}
