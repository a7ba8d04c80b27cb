import type { Caller } from '../../core/caller.ts';
import type { DeliveryStatus, PageQuery, WebhookDelivery } from '../../core/webhook_ports.ts';
import type { Deps } from '../deps.ts';
import { parseWebhookId } from './webhook_id.ts';

/** A page of a webhook's deliveries, newest first; those that are `dead` are its dead letters. @throws Fault `not_found`. */
export async function listDeliveries(
  deps: Deps,
  caller: Caller,
  id: string,
  query: PageQuery & { status: DeliveryStatus | null },
): Promise<{ items: WebhookDelivery[]; next: string | null }> {
  return deps.webhooks.listDeliveries(caller.tenantId, parseWebhookId(id), query);
}
