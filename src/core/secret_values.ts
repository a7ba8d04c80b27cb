import type { ToolCall } from './action.ts';
import type { Approval } from './approval.ts';
import { isJsonObject, type JsonValue } from './json.ts';
import { formatPointer } from './json_rules.ts';
import { maskMember } from './mask_member.ts';
import type { Masker } from './masker.ts';
import { parseToolCall } from './parse_tool_call.ts';

/** An approval's actions as one reader may see them. */
export interface VisibleActions {
  original: ToolCall;
  current: ToolCall;
  /** Null where a value is masked: the text would not be the one that is hashed. */
  canonicalAction: string | null;
  /** JSON pointers (RFC 6901) into the tool calls, sorted. */
  masked: string[];
}

/** A value of a call, masked, with the pointers of what was. */
interface MaskedValue {
  value: JsonValue;
  pointers: string[];
}

function maskEntry(masker: Masker, name: string, value: JsonValue, pointer: string): MaskedValue {
  if (typeof value === 'string') {
    const masked = maskMember(masker, name, value);
    return { value: masked, pointers: masked === value ? [] : [pointer] };
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => maskEntry(masker, name, item, `${pointer}/${index}`));
    return { value: items.map((item) => item.value), pointers: items.flatMap((item) => item.pointers) };
  }
  if (!isJsonObject(value)) return { value, pointers: [] };
  const names = Object.keys(value);
  if (names.some((key) => masker.maskText(key) !== key)) {
    return { value: masker.maskWhole(value), pointers: [pointer] };
  }
  const members = names.map((key) => ({
    key,
    ...maskEntry(masker, key, value[key] as JsonValue, pointer + formatPointer([key])),
  }));
  return {
    value: Object.fromEntries(members.map(({ key, value: masked }) => [key, masked])),
    pointers: members.flatMap(({ pointers }) => pointers),
  };
}

/** A parameter of a call as those see it who are not shown its secrets. */
export function maskParameter(
  masker: Masker,
  name: string,
  value: JsonValue,
  secretParameters: readonly string[],
): MaskedValue {
  const pointer = formatPointer(['parameters', name]);
  return secretParameters.includes(name)
    ? { value: masker.maskWhole(value), pointers: [pointer] }
    : maskEntry(masker, name, value, pointer);
}

/** A name as it is shown, which is none of those taken: one that is masked may read as another is written. */
function maskName(masker: Masker, name: string, taken: Set<string>): string {
  let shown = masker.maskText(name);
  while (shown !== name && taken.has(shown)) shown += '+';
  taken.add(shown);
  return shown;
}

/** A name that is a secret itself is masked in place, so that a parameter never hides the others. */
function maskCall(masker: Masker, call: ToolCall, secretParameters: readonly string[]) {
  const resource = call.resource === null ? null : masker.maskText(call.resource);
  const taken = new Set(Object.keys(call.parameters));
  const parameters = Object.entries(call.parameters).map(([name, value]) => {
    const shown = maskName(masker, name, taken);
    const masked =
      shown === name
        ? maskParameter(masker, name, value, secretParameters)
        : { value: masker.maskWhole(value), pointers: [formatPointer(['parameters', shown])] };
    return { name: shown, ...masked };
  });
  return {
    call: {
      ...call,
      resource,
      parameters: Object.fromEntries(parameters.map(({ name, value }) => [name, value])),
    },
    masked: [
      ...(resource === call.resource ? [] : ['/resource']),
      ...parameters.flatMap(({ pointers }) => pointers),
    ],
  };
}

/**
 * The actions of an approval as `reader` may see them. Only the asking agent is shown what its tool holds secret, and
 * what looks like a secret wherever it stands in the parameters or the resource.
 */
export function showActions(approval: Approval, reader: string, masker: Masker): VisibleActions {
  const { canonicalAction, originalAction, secretParameters } = approval;
  const current = parseToolCall(canonicalAction);
  const original = originalAction === canonicalAction ? current : parseToolCall(originalAction);
  if (reader === approval.agent) return { original, current, canonicalAction, masked: [] };
  const shown = maskCall(masker, current, secretParameters);
  const shownOriginal = original === current ? shown : maskCall(masker, original, secretParameters);
  const masked = [...new Set([...shown.masked, ...shownOriginal.masked])].toSorted();
  return {
    original: shownOriginal.call,
    current: shown.call,
    canonicalAction: masked.length === 0 ? canonicalAction : null,
    masked,
  };
}
