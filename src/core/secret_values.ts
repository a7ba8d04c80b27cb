import type { ToolCall } from './action.ts';
import type { Approval } from './approval.ts';
import { parseToolCall } from './parse_tool_call.ts';

/** What stands in the place of a value that a reader is not shown. Sent back in an edit it means that value. */
export const MASK = '(secret)';

/** An approval's actions as one reader may see them. */
export interface VisibleActions {
  original: ToolCall;
  current: ToolCall;
  /** Null where a value is masked: the text would not be the one that is hashed. */
  canonicalAction: string | null;
  /** JSON pointers (RFC 6901) into the tool calls. */
  masked: string[];
}

function presentSecrets(call: ToolCall, secretParameters: readonly string[]): string[] {
  return secretParameters.filter((name) => Object.hasOwn(call.parameters, name));
}

function mask(call: ToolCall, names: readonly string[]): ToolCall {
  const masks = Object.fromEntries(names.map((name) => [name, MASK]));
  return { ...call, parameters: { ...call.parameters, ...masks } };
}

function toPointer(name: string): string {
  return `/parameters/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The actions of an approval as `reader` may see them: only the asking agent is shown what its tool holds secret. */
export function showActions(approval: Approval, reader: string): VisibleActions {
  const original = parseToolCall(approval.originalAction);
  const current = parseToolCall(approval.canonicalAction);
  const { canonicalAction, secretParameters } = approval;
  const hidden = reader === approval.agent ? [] : secretParameters;
  const inOriginal = presentSecrets(original, hidden);
  const inCurrent = presentSecrets(current, hidden);
  const masked = [...new Set([...inOriginal, ...inCurrent])].toSorted();
  if (masked.length === 0) return { original, current, canonicalAction, masked: [] };
  return {
    original: mask(original, inOriginal),
    current: mask(current, inCurrent),
    canonicalAction: null,
    masked: masked.map(toPointer),
  };
}

/** An edited call with the values that its editor was not shown, where the mask was sent back for them. */
export function restoreSecrets(
  edited: ToolCall,
  present: ToolCall,
  secretParameters: readonly string[],
): ToolCall {
  const kept = presentSecrets(edited, secretParameters).filter(
    (name) => edited.parameters[name] === MASK && Object.hasOwn(present.parameters, name),
  );
  if (kept.length === 0) return edited;
  const values = Object.fromEntries(kept.map((name) => [name, present.parameters[name] ?? null]));
  return { ...edited, parameters: { ...edited.parameters, ...values } };
}
