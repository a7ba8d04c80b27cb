import type { ToolCall } from './action.ts';
import { Fault, type FaultIssue } from './fault.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { formatPointer } from './json_rules.ts';
import { MASK, type Masker } from './masker.ts';
import { maskParameter } from './secret_values.ts';

/** The values that masks stand for. */
type Masks = Map<string, JsonValue>;

/**
 * An edited call in which the masks that its editor was shown are the values they stand for again, wherever in the same
 * parameter they stand now. A mask that stands for nothing there is refused: run as it is it would be a text that looks
 * like a secret and is none.
 * @throws Fault `invalid_request`.
 */
export function restoreSecrets(
  edited: ToolCall,
  present: ToolCall,
  secretParameters: readonly string[],
  masker: Masker,
): ToolCall {
  const issues: FaultIssue[] = [];
  const parameters: JsonObject = {};
  for (const [name, value] of Object.entries(edited.parameters)) {
    const raw = present.parameters[name];
    const masks: Masks = new Map();
    if (raw !== undefined && Object.hasOwn(present.parameters, name)) {
      collectMasks(raw, maskParameter(masker, name, raw, secretParameters).value, masker, masks);
    }
    parameters[name] = restore(value, masks, formatPointer(['tool_call', 'parameters', name]), issues);
  }
  if (issues.length > 0) {
    throw new Fault(
      'invalid_request',
      'a mask stands for a value only in the parameter it was shown in. See `errors`',
      { issues },
    );
  }
  const isSameResource = present.resource !== null && edited.resource === masker.maskText(present.resource);
  return { ...edited, resource: isSameResource ? present.resource : edited.resource, parameters };
}

/** Notes what each mask in a value as shown stands for in the raw one. */
function collectMasks(raw: JsonValue, shown: JsonValue, masker: Masker, masks: Masks): void {
  if (typeof shown === 'string') {
    if (shown === masker.maskWhole(raw)) masks.set(shown, raw);
    else if (typeof raw === 'string') collectInText(raw, shown, masker, masks);
  } else if (Array.isArray(shown) && Array.isArray(raw)) {
    for (const [index, item] of shown.entries()) collectMasks(raw[index] ?? null, item, masker, masks);
  } else if (isJsonObject(shown) && isJsonObject(raw)) {
    for (const [key, item] of Object.entries(shown)) collectMasks(raw[key] ?? null, item, masker, masks);
  }
}

/** A text that is partly masked: what stands between its masks is in the raw text as well, in the same order. */
function collectInText(raw: string, shown: string, masker: Masker, masks: Masks): void {
  const between = shown.split(MASK);
  const found = shown.match(MASK) ?? [];
  let at = (between[0] ?? '').length;
  for (const [index, mask] of found.entries()) {
    const next = between[index + 1] ?? '';
    const end = endOfSecret(raw, at, next, index === found.length - 1, mask, masker);
    const isLiteral = raw.startsWith(mask, at);
    const secret = raw.slice(at, end ?? at + mask.length);
    if (end === undefined && !isLiteral) return;
    masks.set(mask, secret);
    at += secret.length + next.length;
  }
}

/** Places that are tried for a secret's end before it counts as not found. */
const TRIES = 1000;

/** Where the secret that begins at `at` ends: before the text that follows it, where its mask is the one shown. */
function endOfSecret(
  raw: string,
  at: number,
  next: string,
  isLast: boolean,
  mask: string,
  masker: Masker,
): number | undefined {
  if (isLast) {
    const end = raw.length - next.length;
    return masker.maskWhole(raw.slice(at, end)) === mask ? end : undefined;
  }
  let end = raw.indexOf(next, at + 1);
  for (let tries = 0; end >= 0 && tries < TRIES; tries += 1) {
    if (masker.maskWhole(raw.slice(at, end)) === mask) return end;
    end = raw.indexOf(next, end + 1);
  }
  return undefined;
}

function restore(value: JsonValue, masks: Masks, pointer: string, issues: FaultIssue[]): JsonValue {
  if (typeof value === 'string') return restoreText(value, masks, pointer, issues);
  if (Array.isArray(value)) {
    return value.map((item, index) => restore(item, masks, `${pointer}/${index}`, issues));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      restore(item, masks, pointer + formatPointer([key]), issues),
    ]),
  );
}

function restoreText(text: string, masks: Masks, pointer: string, issues: FaultIssue[]): JsonValue {
  const whole = masks.get(text);
  if (whole !== undefined) return whole;
  return text.replace(MASK, (mask) => {
    const secret = masks.get(mask);
    if (typeof secret === 'string') return secret;
    issues.push({ pointer, reason: `\`${mask}\` stands for no text that was shown here` });
    return mask;
  });
}
