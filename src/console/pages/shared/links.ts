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

export function agentPath(agent: string): string {
  return `/console/agents/${encodeURIComponent(agent)}`;
}

export function sessionPath(agent: string, sessionId: string): string {
  return `${agentPath(agent)}/sessions/${encodeURIComponent(sessionId)}`;
}
