import { Fault } from '../core/fault.ts';

const REVISION_TAG = /^"([0-9a-f]{64})"$/;

/** A revision as a strong tag (RFC 9110 §8.8.3). */
export function toRevisionTag(revision: string): string {
  return `"${revision}"`;
}

/**
 * The revision an `If-Match` header asks for: one strong tag. Undefined when the header is absent; `invalid_request`
 * for `*`, a weak tag, a list and anything else, since each of them would change what was not read.
 */
export function parseRevisionTag(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const revision = REVISION_TAG.exec(header)?.[1];
  if (revision !== undefined) return revision;
  throw new Fault(
    'invalid_request',
    'the `if-match` header is not one strong tag. Send the `etag` that was answered, the revision in quotes',
  );
}
