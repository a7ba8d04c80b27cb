import type { PublicUrl } from '../core/public_url.ts';
import type { SlackMessenger } from '../core/slack_ports.ts';
import type { SlackCallbackOptions } from '../http/callbacks/slack_callback.ts';
import { createIncomingWebhookMessenger } from '../notify/slack/incoming_webhook_messenger.ts';
import { createReply } from '../notify/slack/reply.ts';
import { type RelayDeps, relayToSlack } from '../operations/slack/relay.ts';
import type { Config } from './config.ts';
import type { ServiceLog } from './service_log.ts';

/** Where Slack's clicks are taken; undefined without the secret that they are signed with. */
export function openSlackCallback(config: Config, log: ServiceLog): SlackCallbackOptions | undefined {
  if (config.slackSigningSecret === undefined) return undefined;
  return {
    signingSecret: config.slackSigningSecret,
    tenantId: config.slackTenant,
    now: () => new Date(),
    reply: createReply({
      apiUrl: config.slackApiUrl,
      onTrouble: (error) => log.warn({ err: error }, 'somebody who clicked in slack could not be answered'),
    }),
  };
}

/** Slack's client is loaded where it is used: it is large. */
async function createMessenger(
  config: Config,
  slackPosting: NonNullable<Config['slackPosting']>,
  publicUrl: PublicUrl,
): Promise<SlackMessenger> {
  const { slackApiUrl } = config;
  const options = {
    publicUrl: () => publicUrl.get(),
    takesClicks: config.slackSigningSecret !== undefined,
  };
  if (slackPosting.kind !== 'bot') return createIncomingWebhookMessenger({ ...options, ...slackPosting });
  const { createWebApiMessenger } = await import('../notify/slack/web_api_messenger.ts');
  return createWebApiMessenger({ ...options, ...slackPosting, apiUrl: slackApiUrl });
}

/** Tells approvals in Slack from now on, where that is configured; returns what stops it. */
export async function startSlack(parts: {
  deps: RelayDeps;
  config: Config;
  publicUrl: PublicUrl;
  log: ServiceLog;
  /** Names this process. */
  holder: string;
}): Promise<() => Promise<void>> {
  const { deps, config, publicUrl, log, holder } = parts;
  if (config.slackPosting === undefined) return async () => undefined;
  const messenger = await createMessenger(config, config.slackPosting, publicUrl);
  const stopping = new AbortController();
  const onTrouble = (error: unknown): void =>
    log.warn({ err: error }, 'slack could not be told of approvals now. It will be');
  const relayed = relayToSlack(
    deps,
    { tenantId: config.slackTenant, holder, messenger, onTrouble },
    stopping.signal,
  );
  return async () => {
    stopping.abort();
    await relayed;
  };
}
