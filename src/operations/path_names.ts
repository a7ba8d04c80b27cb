import { notFound } from '../core/common_faults.ts';
import { findUnsafeText, parsePrincipal } from '../core/identifiers.ts';

// Names that stand in a path. What cannot be one names nothing, and is not found.

const SESSION_ID_MAX = 256;

/** The principal that a path names, in lower case. @throws Fault `not_found`. */
export function parsePathPrincipal(text: string): string {
  const principal = parsePrincipal(text);
  if (principal === undefined) throw notFound();
  return principal;
}

/** The session's id that a path names, as calls send it. @throws Fault `not_found`. */
export function parsePathSession(text: string): string {
  const isSession = text.length >= 1 && text.length <= SESSION_ID_MAX && findUnsafeText(text) === undefined;
  if (!isSession) throw notFound();
  return text;
}
