import {
  type Block,
  type KnownBlock,
  type Logger,
  LogLevel,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebClient,
} from '@slack/web-api';
import { type SlackMessage, type SlackMessenger, SlackTrouble } from '../../core/slack_ports.ts';
import { type RenderOptions, renderMessage } from './render_message.ts';

/** How long Slack may take for one call. */
export const CALL_TIMEOUT_MS = 5_000;

/** What Slack says of blocks that it does not take. */
const BLOCKS_REFUSED: ReadonlySet<string> = new Set([
  'invalid_blocks',
  'invalid_blocks_format',
  'msg_blocks_too_long',
  'msg_too_long',
]);

/** What it says of a message that is not there to be changed. */
const GONE: ReadonlySet<string> = new Set([
  'message_not_found',
  'cant_update_message',
  'channel_not_found',
  'is_archived',
]);

const nothing = (): void => undefined;

/** The library's log quotes what is sent and answered; what went wrong is thrown, and logged by who called. */
const SILENT: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  setLevel: nothing,
  getLevel: () => LogLevel.ERROR,
  setName: nothing,
};

export interface WebApiOptions extends RenderOptions {
  token: string;
  /** By its id, or `#` and its name. */
  channel: string;
  /** Slack's own, where not set. */
  apiUrl: string | undefined;
}

interface Place {
  channel: string;
  ts: string;
}

/** The error's name as Slack has it; undefined for what is none of Slack's refusals. */
function refusalOf(error: unknown): string | undefined {
  return error instanceof WebAPIPlatformError ? error.data.error : undefined;
}

/** What went wrong, without a word of what was sent. */
function toTrouble(error: unknown): SlackTrouble {
  if (error instanceof WebAPIRateLimitedError) {
    return new SlackTrouble('slack limits the rate', error.retryAfter * 1000);
  }
  const refusal = refusalOf(error);
  if (refusal !== undefined) {
    const name = /^[a-z_]{1,64}$/.test(refusal) ? refusal : 'no answer of slack';
    return new SlackTrouble(`slack refuses: ${name}`, null);
  }
  if (error instanceof WebAPIHTTPError) {
    const seconds = Number(error.headers['retry-after']);
    return new SlackTrouble(
      `slack answers with status ${error.statusCode}`,
      Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null,
    );
  }
  return new SlackTrouble('slack cannot be reached', null, error);
}

/** Calls with the blocks or, where Slack does not take them, with what is told instead. */
async function callWith<T>(
  message: SlackMessage,
  call: (shown: { text: string; blocks: (KnownBlock | Block)[] }) => Promise<T>,
): Promise<T> {
  // Blocks are made here, of the forms that Slack documents.
  const typed = ({ text, blocks }: { text: string; blocks: object[] }) => ({
    text,
    blocks: blocks as (KnownBlock | Block)[],
  });
  try {
    return await call(typed(message));
  } catch (error) {
    if (!BLOCKS_REFUSED.has(refusalOf(error) ?? '')) throw error;
    return call(typed(message.bare));
  }
}

/** Tells by Slack's Web API, as a bot: a message is changed when its approval has. */
export function createWebApiMessenger(options: WebApiOptions): SlackMessenger {
  const client = new WebClient(options.token, {
    ...(options.apiUrl !== undefined && { slackApiUrl: options.apiUrl }),
    logger: SILENT,
    timeout: CALL_TIMEOUT_MS,
    // Who calls knows better when to try again, and what by then is to be told.
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
  });

  async function post(message: SlackMessage): Promise<Place> {
    const { channel, ts } = await callWith(message, (shown) =>
      client.chat.postMessage({
        channel: options.channel,
        ...shown,
        mrkdwn: false,
        parse: 'none',
        link_names: false,
        unfurl_links: false,
        unfurl_media: false,
      }),
    );
    if (channel === undefined || ts === undefined) throw new SlackTrouble('slack names no message', null);
    return { channel, ts };
  }

  /** Undefined when there is no message to change. */
  async function change(message: SlackMessage, { channel, ts }: Place): Promise<Place | undefined> {
    try {
      await callWith(message, (shown) =>
        client.chat.update({ channel, ts, ...shown, parse: 'none', link_names: false }),
      );
      return { channel, ts };
    } catch (error) {
      if (GONE.has(refusalOf(error) ?? '')) return undefined;
      throw error;
    }
  }

  return {
    render: (notice) => renderMessage(notice, options),
    send: async (message, former) => {
      try {
        if (former === undefined || former.ts === '') return await post(message);
        const changed = await change(message, former);
        if (changed !== undefined) return changed;
        // Somebody took the message away: it is missed only by who could still decide.
        return message.isOpen ? await post(message) : former;
      } catch (error) {
        throw error instanceof SlackTrouble ? error : toTrouble(error);
      }
    },
  };
}
