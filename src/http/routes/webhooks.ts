import * as z from 'zod';
import { formatId } from '../../core/ids.ts';
import { createWebhook } from '../../operations/webhooks/create_webhook.ts';
import { deleteWebhook } from '../../operations/webhooks/delete_webhook.ts';
import { listDeliveries } from '../../operations/webhooks/list_deliveries.ts';
import { listWebhooks } from '../../operations/webhooks/list_webhooks.ts';
import { redeliver } from '../../operations/webhooks/redeliver.ts';
import { rotateWebhookSecret } from '../../operations/webhooks/rotate_webhook_secret.ts';
import { defineRoute } from '../route.ts';
import { LIMIT_DEFAULT, pageMembers, parseCursor } from '../schemas/page.ts';
import {
  createWebhookBody,
  deliveryOutput,
  deliveryStatus,
  toWireDelivery,
  toWireWebhook,
  webhookOutput,
  webhookWithSecret,
} from '../schemas/webhook.ts';

const webhookParams = { id: "the webhook's id" };

export const createWebhookRoute = defineRoute({
  operationId: 'createWebhook',
  summary: 'Have events sent to a url; the secret that signs them is shown once',
  description:
    'Signed as Standard Webhooks 1.0, sent at least once. The url must lead to public addresses alone, now and at each attempt.',
  method: 'post',
  path: '/v1/webhooks',
  roles: ['operator'],
  body: createWebhookBody,
  success: { status: 201, description: 'the webhook with its secret', schema: webhookWithSecret },
  problems: [],
  handle: async ({ deps, caller, body }) => {
    const { webhook, secret } = await createWebhook(deps, caller, body);
    return { body: { ...toWireWebhook(webhook), secret } };
  },
});

export const listWebhooksRoute = defineRoute({
  operationId: 'listWebhooks',
  summary: 'List webhooks, newest first, without their secrets',
  method: 'get',
  path: '/v1/webhooks',
  roles: ['operator'],
  query: z.strictObject(pageMembers),
  success: {
    status: 200,
    description: 'a page',
    schema: z
      .strictObject({ items: z.array(webhookOutput), next_cursor: z.string().nullable() })
      .meta({ id: 'WebhookPage' }),
  },
  problems: [],
  handle: async ({ deps, caller, query }) => {
    const page = await listWebhooks(deps, caller, {
      limit: query.limit ?? LIMIT_DEFAULT,
      before: parseCursor('webhook', query.cursor),
    });
    return {
      body: {
        items: page.items.map(toWireWebhook),
        next_cursor: page.next === null ? null : formatId('webhook', page.next),
      },
    };
  },
});

export const deleteWebhookRoute = defineRoute({
  operationId: 'deleteWebhook',
  summary: 'Delete a webhook, and end what is under way to it',
  method: 'delete',
  path: '/v1/webhooks/:id',
  params: webhookParams,
  roles: ['operator'],
  success: { status: 204, description: 'deleted' },
  problems: ['not_found'],
  handle: async ({ deps, caller, id }) => {
    await deleteWebhook(deps, caller, id);
    return {};
  },
});

export const rotateWebhookRoute = defineRoute({
  operationId: 'rotateWebhookSecret',
  summary: 'Give a webhook another secret, shown once',
  description:
    'The former secret signs beside it for 24 hours: the header then has two signatures. The one before that no longer signs, so rotating twice ends a secret that leaked at once.',
  method: 'post',
  path: '/v1/webhooks/:id/rotate',
  params: webhookParams,
  roles: ['operator'],
  success: { status: 200, description: 'the webhook with its new secret', schema: webhookWithSecret },
  problems: ['not_found'],
  handle: async ({ deps, caller, id }) => {
    const { webhook, secret } = await rotateWebhookSecret(deps, caller, id);
    return { body: { ...toWireWebhook(webhook), secret } };
  },
});

export const listDeliveriesRoute = defineRoute({
  operationId: 'listWebhookDeliveries',
  summary: "List a webhook's deliveries, newest first",
  description: '`status=dead` are those that were given up.',
  method: 'get',
  path: '/v1/webhooks/:id/deliveries',
  params: webhookParams,
  roles: ['operator'],
  query: z.strictObject({ status: deliveryStatus.optional(), ...pageMembers }),
  success: {
    status: 200,
    description: 'a page',
    schema: z
      .strictObject({ items: z.array(deliveryOutput), next_cursor: z.string().nullable() })
      .meta({ id: 'WebhookDeliveryPage' }),
  },
  problems: ['not_found'],
  handle: async ({ deps, caller, id, query }) => {
    const page = await listDeliveries(deps, caller, id, {
      status: query.status ?? null,
      limit: query.limit ?? LIMIT_DEFAULT,
      before: parseCursor('delivery', query.cursor),
    });
    return {
      body: {
        items: page.items.map(toWireDelivery),
        next_cursor: page.next === null ? null : formatId('delivery', page.next),
      },
    };
  },
});

export const redeliverRoute = defineRoute({
  operationId: 'redeliverWebhookDelivery',
  summary: 'Send a delivery again, at once and with all its attempts',
  description: 'It has the same id and the same body.',
  method: 'post',
  path: '/v1/webhooks/:id/deliveries/:delivery_id/redeliver',
  params: { ...webhookParams, delivery_id: "the delivery's id" },
  roles: ['operator'],
  success: { status: 200, description: 'the delivery, pending', schema: deliveryOutput },
  problems: ['not_found'],
  handle: async ({ deps, caller, id, params }) => ({
    body: toWireDelivery(await redeliver(deps, caller, id, params.delivery_id ?? '')),
  }),
});
