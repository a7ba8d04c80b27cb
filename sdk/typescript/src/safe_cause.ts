/** Causes behind causes that are told of; also ends a cycle of them. */
const CAUSES_MAX = 4;

/**
 * What a failed request may tell as the cause of its error: names, messages and codes, without the key. Never the
 * thrown object itself: some implementations of `fetch` hang the request on it, headers included.
 */
export function safeCause(thrown: unknown, key: string, left: number = CAUSES_MAX): Error | undefined {
  if (!isErrorLike(thrown) || left === 0) {
    return undefined;
  }
  const tell = (text: unknown) => (typeof text === 'string' ? text.replaceAll(key, '[key]') : '');
  const inner = safeCause(thrown.cause, key, left - 1);
  const cause = new Error(tell(thrown.message), inner === undefined ? {} : { cause: inner });
  cause.name = tell(thrown.name);
  return typeof thrown.code === 'string' ? Object.assign(cause, { code: tell(thrown.code) }) : cause;
}

/** Also true of an error of another realm. */
function isErrorLike(
  value: unknown,
): value is { message: unknown; name?: unknown; code?: unknown; cause?: unknown } {
  return typeof value === 'object' && value !== null && 'message' in value;
}
