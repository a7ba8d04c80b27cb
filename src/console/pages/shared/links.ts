import { formatId } from '../../../core/ids.ts';

// Paths of the console. What others chose stands in them percent-encoded (RFC 3986 §2.1).

/** A path with a query of what is set. */
export function withQuery(
  path: string,
  members: Readonly<Record<string, string | null | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members))
    if (value != null && value !== '') query.set(name, value);
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

export function approvalPath(approvalId: string): string {
  return `/console/approvals/${formatId('approval', approvalId)}`;
}

/** What a browser reads as "here" or "one up" (RFC 3986 §5.2.4), however it is encoded, and what stands for it. */
const DOTS = /^~*\.{1,2}$/;

/** A name as a segment of a path. `.` and `..` are written with a tilde before them, and so is what looks like that. */
function toSegment(name: string): string {
  return encodeURIComponent(DOTS.test(name) ? `~${name}` : name);
}

/** The name that a decoded segment stands for. */
export function fromSegment(segment: string | undefined): string {
  const text = segment ?? '';
  return text.startsWith('~') && DOTS.test(text) ? text.slice(1) : text;
}

export function agentPath(agent: string): string {
  return `/console/agents/${toSegment(agent)}`;
}

export function sessionPath(agent: string, sessionId: string): string {
  return `${agentPath(agent)}/sessions/${toSegment(sessionId)}`;
}
