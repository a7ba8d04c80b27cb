import { randomUUID } from 'node:crypto';
import type { ApiAnswer, ApiClient } from './api_client.ts';

/** A refund by the starter set's rules: asks above 5,000 cents, needs two votes above 100,000. */
export function refund(amount: number, parameters: Record<string, unknown> = {}) {
  return {
    tool: 'stripe',
    action: 'refund',
    resource: `ch_${randomUUID()}`,
    mutates_state: true,
    parameters: { amount, currency: 'usd', ...parameters },
  };
}

export const TRUSTED = { source_trust: 'trusted_internal' };

/** Asks for a call from trusted origin. */
export function authorize(
  agent: ApiClient,
  toolCall: object,
  more: { context?: object; [member: string]: unknown } = {},
): Promise<ApiAnswer> {
  const { context, ...rest } = more;
  return agent.post('/v1/authorize', {
    tool_call: toolCall,
    context: { ...TRUSTED, ...context },
    ...rest,
  });
}

/** Asks for a call that needs approval, and gives the approval's id. */
export async function ask(
  agent: ApiClient,
  toolCall: object = refund(9000),
  context?: object,
): Promise<string> {
  const answer = await authorize(agent, toolCall, context && { context });
  if (answer.body?.decision !== 'require_approval') throw new Error(`no ask: ${answer.text}`);
  return answer.body.approval.approval_id;
}

/** Asks, and has it approved. */
export async function askApproved(
  agent: ApiClient,
  approver: ApiClient,
  toolCall: object = refund(9000),
): Promise<string> {
  const id = await ask(agent, toolCall);
  const approved = await approver.post(`/v1/approvals/${id}/approve`);
  if (approved.body?.status !== 'approved') throw new Error(`not approved: ${approved.text}`);
  return id;
}

/** Makes a key as an operator; its token. */
export async function makeKey(operator: ApiClient, key: object): Promise<{ token: string; id: string }> {
  const made = await operator.post('/v1/keys', key);
  if (made.status !== 201) throw new Error(`no key: ${made.text}`);
  return { token: made.body.key, id: made.body.id };
}
