import type { ApiAnswer, ApiClient } from './api_client.ts';

/** A command by the starter set's `shell`/`exec`, with what the caller says of its host. */
export function command(text: string, resolvedPaths: string[] | null = null, more: object = {}) {
  return {
    tool: 'shell',
    action: 'exec',
    resource: null,
    mutates_state: true,
    parameters: { command: text, ...(resolvedPaths && { resolved_paths: resolvedPaths }), ...more },
  };
}

/** Exec approvals that ask for what no allowlist covers. */
export function onMiss(agents: object = {}) {
  return { version: 1, defaults: { security: 'allowlist', ask: 'on-miss' }, agents };
}

/** An agent's settings with these patterns. */
export function listing(...patterns: string[]) {
  return { allowlist: patterns.map((pattern) => ({ pattern })) };
}

/** Stores exec approvals, whatever was there. */
export async function putExecApprovals(operator: ApiClient, document: object): Promise<ApiAnswer> {
  const answer = await operator.call('PUT', '/v1/exec-approvals', { document });
  if (answer.status !== 200) throw new Error(`no exec approvals: ${answer.text}`);
  return answer;
}

/** The patterns of an agent's own allowlist, sorted. */
export async function readPatterns(operator: ApiClient, agent: string): Promise<string[]> {
  const { body } = await operator.get('/v1/exec-approvals');
  const entries: { pattern: string }[] = body.document.agents[agent]?.allowlist ?? [];
  return entries.map(({ pattern }) => pattern).sort();
}
