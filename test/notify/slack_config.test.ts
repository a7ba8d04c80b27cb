import { expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../../src/cli/config.ts';

const BOT = { AEGIS_SLACK_BOT_TOKEN: 'xoxb-1-2-s3cret', AEGIS_SLACK_CHANNEL: 'C0123456789' };
const HOOK = 'https://hooks.slack.com/services/T0/B0/s3cret';

function messageOf(env: NodeJS.ProcessEnv): string {
  try {
    loadConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('the environment makes a configuration');
}

test('Slack is told by a bot in a channel, or by an incoming webhook', () => {
  expect(loadConfig({})).toMatchObject({
    slackTenant: 'default',
    slackPosting: undefined,
    slackApiUrl: undefined,
  });
  const env = { ...BOT, AEGIS_SLACK_TENANT: 'acme', AEGIS_SLACK_API_URL: 'http://127.0.0.1:9/api/' };
  expect(loadConfig(env)).toMatchObject({
    slackTenant: 'acme',
    slackPosting: { kind: 'bot', token: 'xoxb-1-2-s3cret', channel: 'C0123456789' },
    slackApiUrl: 'http://127.0.0.1:9/api/',
  });
  expect(loadConfig({ ...BOT, AEGIS_SLACK_CHANNEL: '#approvals' }).slackPosting).toMatchObject({
    channel: '#approvals',
  });
  expect(loadConfig({ AEGIS_SLACK_WEBHOOK_URL: HOOK }).slackPosting).toStrictEqual({
    kind: 'incoming_webhook',
    url: HOOK,
  });
});

test.each([
  [
    'a token without a channel',
    { AEGIS_SLACK_BOT_TOKEN: BOT.AEGIS_SLACK_BOT_TOKEN },
    /^AEGIS_SLACK_BOT_TOKEN is set but AEGIS_SLACK_CHANNEL is not\. For example: AEGIS_SLACK_CHANNEL=/,
  ],
  [
    'a channel without a token',
    { AEGIS_SLACK_CHANNEL: 'C0123456789' },
    /^AEGIS_SLACK_CHANNEL is set but AEGIS_SLACK_BOT_TOKEN is not\. For example: AEGIS_SLACK_BOT_TOKEN=/,
  ],
  [
    'both ways',
    { ...BOT, AEGIS_SLACK_WEBHOOK_URL: HOOK },
    /^AEGIS_SLACK_BOT_TOKEN and AEGIS_SLACK_WEBHOOK_URL are both set.*Unset one$/,
  ],
  [
    'a channel that is none',
    { ...BOT, AEGIS_SLACK_CHANNEL: 'the channel' },
    /^AEGIS_SLACK_CHANNEL is `the channel` but must be /,
  ],
  ['a token that is none', { ...BOT, AEGIS_SLACK_BOT_TOKEN: 's3cret' }, /^AEGIS_SLACK_BOT_TOKEN must be /],
  [
    'a webhook over plain http',
    { AEGIS_SLACK_WEBHOOK_URL: HOOK.replace('https', 'http') },
    /^AEGIS_SLACK_WEBHOOK_URL must be /,
  ],
  [
    'an api over plain http',
    { ...BOT, AEGIS_SLACK_API_URL: 'http://slack.example.com/' },
    /^AEGIS_SLACK_API_URL is `.*` but must be /,
  ],
  [
    'an api that is no address',
    { ...BOT, AEGIS_SLACK_API_URL: 'slack' },
    /^AEGIS_SLACK_API_URL is `slack` but must be /,
  ],
  [
    'a tenant that is none',
    { AEGIS_SLACK_TENANT: 'Acme Inc' },
    /^AEGIS_SLACK_TENANT is `Acme Inc` but must be /,
  ],
])('%s stops the start with one line that names it, and no secret', (_, env, expected) => {
  const message = messageOf(env);
  expect(message).toMatch(expected);
  expect(message).not.toMatch(/s3cret|\n/);
});
