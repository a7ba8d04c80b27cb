import type { Caller } from '../../core/caller.ts';
import type { Deps } from '../deps.ts';
import { parseWebhookId } from './webhook_id.ts';

/** Removes a webhook and ends what is under way to it. @throws Fault `not_found`. */
export async function deleteWebhook(deps: Deps, caller: Caller, id: string): Promise<void> {
  await deps.webhooks.remove(caller, parseWebhookId(id));
}
