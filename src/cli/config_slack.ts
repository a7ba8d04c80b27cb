import { TENANT_ID } from '../core/identifiers.ts';
import { isLoopbackAddress } from '../http/client_address.ts';
import type { VariableName } from './config_names.ts';
import { badValue, ConfigError, type EnvReader } from './config_values.ts';

/** How approvals are told in Slack. */
export type SlackPosting =
  | { readonly kind: 'bot'; readonly token: string; readonly channel: string }
  /** Posts, and changes nothing that it has posted. */
  | { readonly kind: 'incoming_webhook'; readonly url: string };

export interface SlackConfig {
  /** The tenant whose approvals are told and decided in Slack. */
  readonly slackTenant: string;
  /** Undefined: nothing is told. */
  readonly slackPosting: SlackPosting | undefined;
  /** Where Slack's Web API is; undefined for Slack's own. */
  readonly slackApiUrl: string | undefined;
}

const CHANNEL = /^(#[^\s\p{C}]{1,80}|[A-Z0-9]{2,32})$/u;

/** An https address, or one of http on this machine: what goes there says what people decide. */
function isSafeAddress(text: string): boolean {
  if (!/^[!-~]{1,2048}$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  const isHere = hostname === 'localhost' || isLoopbackAddress(hostname.replace(/^\[|\]$/g, ''));
  return protocol === 'https:' || (protocol === 'http:' && isHere);
}

function goTogether(reader: EnvReader, set: VariableName, missing: VariableName, example: string): void {
  if (reader.find(set) === undefined || reader.find(missing) !== undefined) return;
  throw new ConfigError(`${set} is set but ${missing} is not. For example: ${missing}=${example}`);
}

function readBot(reader: EnvReader): SlackPosting | undefined {
  goTogether(reader, 'AEGIS_SLACK_BOT_TOKEN', 'AEGIS_SLACK_CHANNEL', 'C0123456789');
  goTogether(reader, 'AEGIS_SLACK_CHANNEL', 'AEGIS_SLACK_BOT_TOKEN', '$(cat slack-bot-token)');
  const token = reader.secret('AEGIS_SLACK_BOT_TOKEN', {
    pattern: /^xox[a-z][A-Za-z0-9.-]{1,500}$/,
    what: 'the bot token of a Slack app, which begins with `xoxb-`',
    example: '$(cat slack-bot-token)',
  });
  const channel = reader.find('AEGIS_SLACK_CHANNEL');
  if (token === undefined || channel === undefined) return undefined;
  if (!CHANNEL.test(channel)) {
    throw badValue('AEGIS_SLACK_CHANNEL', channel, "a channel's id, or `#` and its name", 'C0123456789');
  }
  return { kind: 'bot', token, channel };
}

function readIncomingWebhook(reader: EnvReader): SlackPosting | undefined {
  const name = 'AEGIS_SLACK_WEBHOOK_URL';
  const url = reader.find(name);
  if (url === undefined) return undefined;
  if (!isSafeAddress(url)) {
    // The address is all that it takes to post.
    throw badValue(name, undefined, 'the https address of an incoming webhook', '$(cat slack-webhook-url)');
  }
  return { kind: 'incoming_webhook', url };
}

function readPosting(reader: EnvReader): SlackPosting | undefined {
  const bot = readBot(reader);
  const webhook = readIncomingWebhook(reader);
  if (bot !== undefined && webhook !== undefined) {
    throw new ConfigError(
      'AEGIS_SLACK_BOT_TOKEN and AEGIS_SLACK_WEBHOOK_URL are both set, and every approval would be told twice. Unset one',
    );
  }
  return bot ?? webhook;
}

/** How Slack is used, beside its signing secret. @throws ConfigError. */
export function readSlack(reader: EnvReader): SlackConfig {
  const slackTenant = reader.find('AEGIS_SLACK_TENANT') ?? 'default';
  if (!TENANT_ID.test(slackTenant)) {
    throw badValue('AEGIS_SLACK_TENANT', slackTenant, 'the id of a tenant', 'default');
  }
  const slackApiUrl = reader.find('AEGIS_SLACK_API_URL');
  if (slackApiUrl !== undefined && !isSafeAddress(slackApiUrl)) {
    const what = 'an https address, or one of http on this machine';
    throw badValue('AEGIS_SLACK_API_URL', slackApiUrl, what, 'https://slack.com/api/');
  }
  return { slackTenant, slackPosting: readPosting(reader), slackApiUrl };
}
