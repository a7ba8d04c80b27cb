import type { Caller } from '../../core/caller.ts';
import { notFound } from '../../core/common_faults.ts';
import { parseId } from '../../core/ids.ts';
import type { WebhookDelivery } from '../../core/webhook_ports.ts';
import type { Deps } from '../deps.ts';
import { parseWebhookId } from './webhook_id.ts';

/**
 * Sends a delivery again, whatever became of it: the same message under the same id, with all its attempts. One that
 * succeeds puts a webhook in use again whose receiver had said that it is gone. @throws Fault `not_found`.
 */
export async function redeliver(
  deps: Deps,
  caller: Caller,
  id: string,
  deliveryId: string,
): Promise<WebhookDelivery> {
  const uuid = parseId('delivery', deliveryId);
  if (uuid === undefined) throw notFound();
  return deps.webhooks.redeliver(caller, parseWebhookId(id), uuid);
}
