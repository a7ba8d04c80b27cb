import { canonicalAction } from '../../../src/core/canonical_action.ts';
import type { JsonObject, JsonValue } from '../../../src/core/json.ts';
import { JSON_LEVELS_MAX, parseStrictJson } from '../../../src/core/strict_json.ts';
import { isObject } from './read_answer.ts';
import { toJsonValue } from './to_json_value.ts';
import type { ToolCall, ToolCallInput } from './wire.ts';

/** What a guarded function does, as the service's registry and policies name it. */
export interface ActionSpec<P extends object> {
  tool: string;
  action: string;
  /** What is acted on; a function is given a copy of the frozen parameters and answers at once. */
  resource?: string | null | ((parameters: P) => string | null) | undefined;
  mutatesState: boolean;
}

/** In a request the parameters stand inside the body and the tool call. */
const PARAMETER_LEVELS_MAX = JSON_LEVELS_MAX - 2;

/** A copy of a spec that later changes of the caller's object do not reach. Throws a `TypeError` on misuse. */
export function copySpec<P extends object>(spec: ActionSpec<P>): ActionSpec<P> {
  const { tool, action, resource, mutatesState } = spec;
  if (typeof tool !== 'string' || tool === '' || typeof action !== 'string' || action === '') {
    throw new TypeError('`tool` and `action` are strings of at least one character');
  }
  // Not a default: a forgotten `mutatesState` would pass a write off as a read.
  if (typeof mutatesState !== 'boolean') {
    throw new TypeError('`mutatesState` is true or false');
  }
  return { tool, action, resource, mutatesState };
}

/**
 * The canonical text (RFC 8785) of a call: all that is kept of it (EXACT BYTES). Synchronous, so that nothing can
 * change the arguments meanwhile. Throws a `TypeError` that names the place where they are not JSON.
 */
export function freezeAction<P extends object>(spec: ActionSpec<P>, parameters: unknown): string {
  const value = toParameters(parameters);
  return canonicalAction({
    tool: spec.tool,
    action: spec.action,
    resource: resolveResource(spec, value),
    mutates_state: spec.mutatesState,
    parameters: value,
  });
}

/** The same for a tool call in wire form. */
export function freezeToolCall(call: ToolCallInput): string {
  const { tool, action, mutates_state, resource } = call;
  const spec = copySpec({ tool, action, resource, mutatesState: mutates_state });
  return freezeAction(spec, call.parameters);
}

function toParameters(parameters: unknown): JsonObject {
  const value = toJsonValue(parameters, PARAMETER_LEVELS_MAX);
  if (!isObject(value)) {
    throw new TypeError('``: parameters are not an object');
  }
  return value;
}

/** The resource a spec names for these parameters. */
export function resolveResource<P extends object>(
  spec: ActionSpec<P>,
  parameters: JsonObject,
): string | null {
  const { resource } = spec;
  // A copy of its own: what the function does to it does not change what is hashed.
  const named =
    typeof resource === 'function' ? resource(structuredClone(parameters) as P) : (resource ?? null);
  if (named !== null && typeof named !== 'string') {
    throw new TypeError('`resource` is not a string or null');
  }
  return named;
}

/** The action a canonical text denotes, a fresh object each time. Throws when the text is no canonical action. */
export function parseAction(text: string): ToolCall {
  const value = parseStrictJson(text);
  if (!isToolCall(value) || canonicalAction(value) !== text) {
    throw new TypeError('text is not a canonical action');
  }
  return value;
}

function isToolCall(value: JsonValue): value is ToolCall & JsonObject {
  return (
    isObject(value) &&
    typeof value.tool === 'string' &&
    typeof value.action === 'string' &&
    (value.resource === null || typeof value.resource === 'string') &&
    typeof value.mutates_state === 'boolean' &&
    isObject(value.parameters)
  );
}
