import type { ToolCall } from '../../../core/action.ts';
import { sha256Hex } from '../../../core/digest.ts';
import { isJsonObject, type JsonValue } from '../../../core/json.ts';
import type { ReviewLine } from '../../../core/review.ts';
import type { VisibleActions } from '../../../core/secret_values.ts';

function findAt(call: ToolCall, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = { ...call };
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = value[Number(name)];
    else if (isJsonObject(value) && Object.hasOwn(value, name)) value = value[name];
    else return undefined;
  }
  return value;
}

/**
 * The whole of a value that a review shows folded, as its reader may see it; undefined unless it is the very value: a
 * pointer that is shown need not be the one in the action.
 */
export function findFolded(actions: VisibleActions, { path, label, folded }: ReviewLine): string | undefined {
  if (path === null || folded === null) return undefined;
  const calls = label.endsWith(' was') ? [actions.original] : [actions.current];
  for (const call of calls) {
    const value = findAt(call, path);
    if (typeof value === 'string' && sha256Hex(value) === folded.sha256) return value;
  }
  return undefined;
}
