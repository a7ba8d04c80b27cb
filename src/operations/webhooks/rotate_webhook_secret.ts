import type { Caller } from '../../core/caller.ts';
import type { Webhook } from '../../core/webhook_ports.ts';
import type { Deps } from '../deps.ts';
import { makeWebhookSecret } from './make_webhook_secret.ts';
import { parseWebhookId } from './webhook_id.ts';

/** How long receivers have to take over the new secret: both sign until then. */
const FORMER_HOLDS_SECONDS = 86_400;

/** Gives a webhook another secret, which is in the answer and in no other. @throws Fault `not_found`. */
export async function rotateWebhookSecret(
  deps: Deps,
  caller: Caller,
  id: string,
): Promise<{ webhook: Webhook; secret: string }> {
  const secret = makeWebhookSecret(deps);
  const webhook = await deps.webhooks.rotate(caller, parseWebhookId(id), secret, FORMER_HOLDS_SECONDS);
  return { webhook, secret };
}
