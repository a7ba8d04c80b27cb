import { canonicalAction } from '../../../src/core/canonical_action.ts';
import { parseAction } from './action_spec.ts';
import { sha256Hex } from './digest.ts';
import { IntegrityError, type PendingApproval } from './errors.ts';
import type { Approval, ConsumeAnswer, ToolCall } from './wire.ts';

/** The action an approval now stands for, as bytes whose hash was computed here. */
export interface EffectiveAction {
  text: string;
  hash: string;
  /** Whether it differs from the action that was asked for. */
  edited: boolean;
}

/**
 * The action of an approved approval. Throws an `IntegrityError` unless it hashes, here, to the approved hash, and
 * is the action that was asked for or an edit of its parameters that the approval owns up to (EXACT BYTES).
 */
export async function readEffectiveAction(
  approval: Approval,
  pending: PendingApproval,
): Promise<EffectiveAction> {
  const text = canonicalAction(approval.tool_call);
  const hash = await sha256Hex(text);
  if (hash !== approval.action_hash) {
    throw new IntegrityError('the action does not hash to what was approved', { approval });
  }
  const edited = hash !== pending.original_action_hash;
  // An edit back to what was asked for still counts as edited there; the other way round is a swap.
  if (edited && !approval.edited) {
    throw new IntegrityError('the approved action is not the one asked for, nor an edit of it', { approval });
  }
  const original = parseAction(pending.canonical_action);
  const effective = parseAction(text);
  if (!hasSameTarget(original, effective)) {
    throw new IntegrityError('more than parameters was edited', { approval });
  }
  return { text, hash, edited };
}

/** Throws an `IntegrityError` unless what was consumed is what is about to run. */
export async function checkConsumed(answer: ConsumeAnswer, effective: EffectiveAction): Promise<void> {
  const hash = await sha256Hex(canonicalAction(answer.tool_call));
  if (answer.action_hash !== effective.hash || hash !== effective.hash) {
    throw new IntegrityError('consume: another action was consumed than the one approved');
  }
}

/** Everything but the parameters. */
export function hasSameTarget(one: ToolCall, other: ToolCall): boolean {
  return (
    one.tool === other.tool &&
    one.action === other.action &&
    one.resource === other.resource &&
    one.mutates_state === other.mutates_state
  );
}
