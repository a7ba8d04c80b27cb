import type { Caller } from '../../core/caller.ts';
import type { PageQuery, Webhook } from '../../core/webhook_ports.ts';
import type { Deps } from '../deps.ts';

/** A page of the webhooks of the caller's tenant, newest first, without their secrets. */
export function listWebhooks(
  deps: Deps,
  caller: Caller,
  query: PageQuery,
): Promise<{ items: Webhook[]; next: string | null }> {
  return deps.webhooks.list(caller.tenantId, query);
}
