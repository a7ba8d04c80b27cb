import * as z from 'zod';
import { APPROVAL_EVENT_TYPES } from '../../core/event_ports.ts';
import { formatId } from '../../core/ids.ts';
import { DELIVERY_STATUSES, type Webhook, type WebhookDelivery } from '../../core/webhook_ports.ts';
import { idOf, instant, plainText } from './common.ts';

const URL_LENGTH_MAX = 2048;

const eventType = z.enum(
  APPROVAL_EVENT_TYPES,
  `must be one of ${APPROVAL_EVENT_TYPES.map((type) => `\`${type}\``).join(', ')}`,
);

export const createWebhookBody = z
  .strictObject({
    url: plainText(URL_LENGTH_MAX),
    events: z
      .array(eventType)
      .min(1, 'must name at least one event')
      .max(APPROVAL_EVENT_TYPES.length, 'must name each event once'),
  })
  .meta({ id: 'CreateWebhookRequest' });

const webhookMembers = {
  webhook_id: idOf('webhook'),
  url: z.string(),
  events: z.array(z.enum(APPROVAL_EVENT_TYPES)),
  created_by: z.string(),
  created_at: instant,
  former_secret_until: instant.nullable().meta({ description: 'until when two secrets sign' }),
  disabled_at: instant
    .nullable()
    .meta({ description: 'when the receiver answered 410; a redelivery that succeeds lifts it' }),
};

export const webhookOutput = z.strictObject(webhookMembers).meta({ id: 'Webhook' });

export const webhookWithSecret = z
  .strictObject({ ...webhookMembers, secret: z.string().meta({ description: 'shown this once' }) })
  .meta({ id: 'WebhookWithSecret' });

export const deliveryStatus = z.enum(DELIVERY_STATUSES);

export const deliveryOutput = z
  .strictObject({
    delivery_id: idOf('delivery').meta({ description: '`webhook-id` of every attempt' }),
    type: z.enum(APPROVAL_EVENT_TYPES),
    status: deliveryStatus,
    attempts: z.int(),
    last_status: z.int().nullable(),
    last_error: z.string().nullable(),
    next_attempt_at: instant.nullable(),
    created_at: instant,
    finished_at: instant.nullable(),
  })
  .meta({ id: 'WebhookDelivery' });

const toWireInstant = (at: Date | null): string | null => at?.toISOString() ?? null;

export function toWireWebhook(webhook: Webhook) {
  return {
    webhook_id: formatId('webhook', webhook.webhookId),
    url: webhook.url,
    events: webhook.events,
    created_by: webhook.createdBy,
    created_at: webhook.createdAt.toISOString(),
    former_secret_until: toWireInstant(webhook.formerSecretUntil),
    disabled_at: toWireInstant(webhook.disabledAt),
  };
}

export function toWireDelivery(delivery: WebhookDelivery) {
  return {
    delivery_id: formatId('delivery', delivery.deliveryId),
    type: delivery.type,
    status: delivery.status,
    attempts: delivery.attempts,
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
    next_attempt_at: toWireInstant(delivery.nextAttemptAt),
    created_at: delivery.createdAt.toISOString(),
    finished_at: toWireInstant(delivery.finishedAt),
  };
}
