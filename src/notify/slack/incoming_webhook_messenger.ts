import { sha256Hex } from '../../core/digest.ts';
import { type SlackMessenger, type SlackNotice, SlackTrouble } from '../../core/slack_ports.ts';
import { type RenderOptions, renderMessage } from './render_message.ts';
import { CALL_TIMEOUT_MS } from './web_api_messenger.ts';

/** Where messages are that no channel and id is known of. */
const CHANNEL = 'incoming-webhook';

export interface IncomingWebhookOptions extends RenderOptions {
  url: string;
}

/**
 * What an approval is told of: that it asks, in each version, and what became of it. Votes that decide nothing, and the
 * use of what was approved, are no messages of their own.
 */
function phaseOf({ status, version, decidedAt }: SlackNotice): string {
  if (status === 'pending') return `pending ${version}`;
  const isApproved = status === 'approved' || status === 'consumed';
  return isApproved || (status === 'expired' && decidedAt !== null) ? 'approved' : status;
}

async function post(url: string, text: string, blocks: object[]): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text, blocks, mrkdwn: false, unfurl_links: false, unfurl_media: false }),
      redirect: 'error',
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
  } catch (error) {
    throw new SlackTrouble('slack cannot be reached', null, error);
  }
}

/** @throws SlackTrouble unless Slack has taken the message. */
async function assertTaken(response: Response): Promise<void> {
  await response.body?.cancel();
  if (response.ok) return;
  const seconds = Number(response.headers.get('retry-after'));
  throw new SlackTrouble(
    `slack answers with status ${response.status}`,
    Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null,
  );
}

/**
 * Tells by an incoming webhook, which can only post: what was posted stays as it was, and another message says what
 * became of the approval. Buttons of a message that is out of date still decide nothing.
 */
export function createIncomingWebhookMessenger(options: IncomingWebhookOptions): SlackMessenger {
  return {
    render: (notice) => ({
      ...renderMessage(notice, options),
      digest: sha256Hex(`${notice.approvalId} ${phaseOf(notice)}`),
    }),
    send: async (message) => {
      const response = await post(options.url, message.text, message.blocks);
      // A payload that is not taken is one whose blocks are not.
      if (response.status === 400) {
        await response.body?.cancel();
        await assertTaken(await post(options.url, message.bare.text, message.bare.blocks));
      } else {
        await assertTaken(response);
      }
      return { channel: CHANNEL, ts: '' };
    },
  };
}
