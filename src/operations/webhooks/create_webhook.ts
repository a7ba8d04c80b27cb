import type { Caller } from '../../core/caller.ts';
import type { ApprovalEventType } from '../../core/event_ports.ts';
import { Fault } from '../../core/fault.ts';
import type { Webhook } from '../../core/webhook_ports.ts';
import type { Deps } from '../deps.ts';
import { makeWebhookSecret } from './make_webhook_secret.ts';

/** Each event is sent to all of them. */
const WEBHOOKS_MAX = 20;

/**
 * Adds a webhook, which hears what happens from now on; its secret is in the answer and in no other.
 * @throws Fault `invalid_request` for a target that may not be called, and for one webhook too many.
 */
export async function createWebhook(
  deps: Deps,
  caller: Caller,
  { url, events }: { url: string; events: readonly ApprovalEventType[] },
): Promise<{ webhook: Webhook; secret: string }> {
  const target = await deps.webhookTargets.examine(url);
  if (target.kind === 'refused') {
    throw new Fault('invalid_request', 'the webhook cannot be sent to. See `errors`', {
      issues: [{ pointer: '/url', reason: target.reason }],
    });
  }
  const secret = makeWebhookSecret(deps);
  const webhook = await deps.webhooks.create(
    caller,
    { webhookId: deps.newUuid(), url: target.url, events: [...new Set(events)], secret },
    await deps.events.readHead(caller.tenantId),
    WEBHOOKS_MAX,
  );
  return { webhook, secret };
}
