import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What this server asks of a message, as Slack documents it; and the size at which Slack was seen to refuse one. */
const LIMITS = { blocks: 50, text: 3_000, header: 150, value: 2_000, message: 13_200 };

export interface SlackMessageSeen {
  channel: string;
  ts: string;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a message's members are what a test asserts
  blocks: any[];
  /** How often it was changed. */
  changes: number;
}

/** How the next calls are answered, in place of being done. */
export type Mishap =
  | { kind: 'status'; status: number; headers?: Record<string, string> }
  | { kind: 'error'; error: string }
  /** Done, but the answer never comes. */
  | { kind: 'lost_answer' };

function textsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'text' && typeof member === 'string' ? [member] : textsIn(member),
  );
}

function findFault(blocks: SlackMessageSeen['blocks']): string | undefined {
  if (!Array.isArray(blocks) || blocks.length > LIMITS.blocks) return 'invalid_blocks';
  if (JSON.stringify(blocks).length > LIMITS.message) return 'msg_blocks_too_long';
  const isWrong =
    textsIn(blocks).some((text) => text === '' || text.length > LIMITS.text) ||
    blocks.some(({ type, text }) => type === 'header' && text.text.length > LIMITS.header) ||
    blocks.some(
      ({ elements }) =>
        Array.isArray(elements) && elements.some(({ value }) => (value ?? '').length > LIMITS.value),
    );
  return isWrong ? 'invalid_blocks' : undefined;
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** A stand-in for Slack: its Web API, an incoming webhook at `/hook`, and `/actions`, where answers to clicks go. */
export class SlackServer {
  readonly token = 'xoxb-1234-5678-test';
  /** The channel's name and id. */
  readonly channel = '#approvals';
  readonly channelId = 'C0APPROVAL';
  readonly messages: SlackMessageSeen[] = [];
  readonly replies: { response_type: string; replace_original: boolean; text: string }[] = [];
  /** All that was ever sent here, with its headers. */
  readonly traffic: string[] = [];
  readonly calls: { path: string; at: number }[] = [];
  readonly mishaps: Mishap[] = [];
  #server: Server | undefined;
  #port = 0;
  #made = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get env(): Record<string, string> {
    return {
      AEGIS_SLACK_BOT_TOKEN: this.token,
      AEGIS_SLACK_CHANNEL: this.channel,
      AEGIS_SLACK_API_URL: `${this.url}/api/`,
    };
  }

  /** Listens, at the port it had before. */
  async start(): Promise<void> {
    const server = createServer((incoming, outgoing) => void this.#serve(incoming, outgoing));
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  /** Messages that have an approval's link. */
  of(approvalId: string): SlackMessageSeen[] {
    return this.messages.filter(({ blocks }) => JSON.stringify(blocks).includes(approvalId));
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await readBody(incoming);
    const path = incoming.url ?? '';
    this.traffic.push(
      JSON.stringify(incoming.headers),
      body,
      decodeURIComponent(body.replaceAll('+', ' ').replaceAll(/%(?![0-9A-F]{2})/gi, '%25')),
    );
    this.calls.push({ path, at: performance.now() });
    const mishap = this.mishaps.shift();
    if (mishap?.kind === 'status') {
      outgoing.writeHead(mishap.status, mishap.headers).end('no');
      return;
    }
    const answer =
      mishap?.kind === 'error' ? { ok: false, error: mishap.error } : this.#answer(path, incoming, body);
    if (mishap?.kind === 'lost_answer') {
      outgoing.destroy();
      return;
    }
    if (typeof answer === 'string') outgoing.writeHead(answer === 'ok' ? 200 : 400).end(answer);
    else outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  #answer(path: string, incoming: IncomingMessage, body: string): object | string {
    if (path === '/actions') {
      this.replies.push(JSON.parse(body));
      return 'ok';
    }
    if (path === '/hook') {
      const { text, blocks } = JSON.parse(body);
      if (findFault(blocks) !== undefined) return 'invalid_blocks';
      this.#add('hook', text, blocks);
      return 'ok';
    }
    if (incoming.headers.authorization !== `Bearer ${this.token}`)
      return { ok: false, error: 'invalid_auth' };
    const form = new URLSearchParams(body);
    const blocks = JSON.parse(form.get('blocks') ?? '[]');
    const fault = findFault(blocks);
    if (fault !== undefined) return { ok: false, error: fault };
    if (path === '/api/chat.postMessage') return this.#post(form, blocks);
    return path === '/api/chat.update' ? this.#update(form, blocks) : { ok: false, error: 'unknown_method' };
  }

  #add(channel: string, text: string, blocks: SlackMessageSeen['blocks']): SlackMessageSeen {
    this.#made += 1;
    const message = {
      channel,
      ts: `1700000000.${String(this.#made).padStart(6, '0')}`,
      text,
      blocks,
      changes: 0,
    };
    this.messages.push(message);
    return message;
  }

  #post(form: URLSearchParams, blocks: SlackMessageSeen['blocks']): object {
    if (![this.channel, this.channelId].includes(form.get('channel') ?? '')) {
      return { ok: false, error: 'channel_not_found' };
    }
    const { channel, ts } = this.#add(this.channelId, form.get('text') ?? '', blocks);
    return { ok: true, channel, ts };
  }

  #update(form: URLSearchParams, blocks: SlackMessageSeen['blocks']): object {
    const message = this.messages.find(
      ({ channel, ts }) => channel === form.get('channel') && ts === form.get('ts'),
    );
    if (message === undefined) return { ok: false, error: 'message_not_found' };
    Object.assign(message, { text: form.get('text') ?? '', blocks, changes: message.changes + 1 });
    return { ok: true, channel: message.channel, ts: message.ts };
  }
}

/** All words of a message, in their order. */
export function wordsOf(message: SlackMessageSeen | undefined): string {
  return textsIn(message?.blocks).join('\n');
}

/** What the message's buttons are, by their words. */
export function buttonsOf(
  message: SlackMessageSeen | undefined,
): Record<string, { action_id: string; value?: string; url?: string; confirm?: object }> {
  const elements = message?.blocks.find(({ type }) => type === 'actions')?.elements ?? [];
  return Object.fromEntries(elements.map((one: { text: { text: string } }) => [one.text.text, one]));
}

export const SIGNING_SECRET = '8f742231b10e8888abcd99yyyzzz85a5';

/** The headers with which Slack signs a body. */
export function signedHeaders(
  body: string | Uint8Array,
  { secret = SIGNING_SECRET, timestamp = Math.floor(Date.now() / 1000) } = {},
): Record<string, string> {
  const digest = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex');
  return {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': String(timestamp),
    'x-slack-signature': `v0=${digest}`,
  };
}

/** The body that Slack sends when somebody presses a button of a message. */
export function clickBody(
  user: string,
  button: { action_id: string; value?: string } | undefined,
  more: object = {},
): string {
  const payload = {
    type: 'block_actions',
    user: { id: user, username: 'someone', team_id: 'T0123456' },
    team: { id: 'T0123456', domain: 'acme' },
    api_app_id: 'A0123456',
    container: { type: 'message', channel_id: 'C0APPROVAL' },
    actions: [{ type: 'button', block_id: 'b', action_ts: '1700000000.1', ...button }],
    ...more,
  };
  return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
}
