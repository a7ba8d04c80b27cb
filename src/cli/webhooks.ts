import type { WebhookTargets } from '../core/webhook_ports.ts';
import { createAddressGuard } from '../notify/webhooks/address_guard.ts';
import { createDeliverer } from '../notify/webhooks/deliver.ts';
import { type ResolveHost, resolveBySystem } from '../notify/webhooks/find_addresses.ts';
import { startRelay } from '../notify/webhooks/relay.ts';
import { RETRY_SECONDS } from '../notify/webhooks/retry.ts';
import { createWebhookTargets } from '../notify/webhooks/targets.ts';
import type { Deps } from '../operations/deps.ts';
import { maskerOf } from '../operations/masking.ts';
import type { Database } from '../storage/database.ts';
import { createJobQueue } from '../storage/jobs.ts';
import { readMaskKey } from '../storage/tenants.ts';
import { createWebhookOutbox } from '../storage/webhooks_outbox.ts';
import type { Config } from './config.ts';
import type { ServiceLog } from './service_log.ts';

/** Deliveries of all webhooks that one process attempts at once. */
const ATTEMPTS_MAX = 64;

/** What tests set in the place of time and of names; nothing else does. */
export interface WebhookTrials {
  retrySeconds?: readonly number[];
  attemptSeconds?: number;
  pollMs?: number;
  resolveHost?: ResolveHost;
}

interface WebhookOptions {
  config: Pick<Config, 'webhookAllow'>;
  webhooks?: WebhookTrials;
}

/** Says which URLs webhooks may have. */
export function openWebhookTargets({ config, webhooks }: WebhookOptions): WebhookTargets {
  return createWebhookTargets(
    createAddressGuard(config.webhookAllow),
    webhooks?.resolveHost ?? resolveBySystem,
  );
}

/** Passes events on to webhooks from now on, in this process as in every other; returns what stops it. */
export async function startWebhooks(
  { config, webhooks, log }: WebhookOptions & { log: ServiceLog },
  database: Database,
  deps: Deps,
): Promise<() => Promise<void>> {
  const onTrouble = (error: unknown): void =>
    log.warn({ err: error }, 'webhooks cannot be served now. What is to be sent is kept, and sent later');
  const outbox = createWebhookOutbox(database);
  const jobs = await createJobQueue(database, { onTrouble, pollMs: webhooks?.pollMs });
  const relay = startRelay({
    outbox,
    ...deps,
    maskerOf: async (tenantId) => maskerOf({ tenant: { maskKey: await readMaskKey(database, tenantId) } }),
    onDeliveries: () => jobs.wake('webhook_deliveries'),
    onTrouble,
  });
  const deliver = createDeliverer({
    outbox,
    guard: createAddressGuard(config.webhookAllow),
    resolveHost: webhooks?.resolveHost ?? resolveBySystem,
    seconds: webhooks?.attemptSeconds,
    schedule: webhooks?.retrySeconds ?? RETRY_SECONDS,
    now: deps.now,
    random: Math.random,
    onAttempt: () => relay.tellAttempt(),
  });
  jobs.work('webhook_deliveries', { concurrency: ATTEMPTS_MAX }, deliver);
  return async () => {
    await relay.close();
    await jobs.close();
  };
}
