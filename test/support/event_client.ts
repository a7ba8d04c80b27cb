import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { expect } from 'vitest';

/** An event as it arrived. */
export interface HeardEvent {
  id: string;
  event: string;
  /** The parsed `data`. */
  // biome-ignore lint/suspicious/noExplicitAny: an event's members are what a test asserts
  data: any;
  /** When it arrived, by this process's monotonic clock. */
  heardAt: number;
}

/** One open stream of events. */
export interface EventClient {
  status: number;
  headers: IncomingHttpHeaders;
  events: HeardEvent[];
  comments: string[];
  /** The id that a client would resume from: of the last event, or of the opening. */
  lastId(): string;
  isEnded(): boolean;
  /** All that arrived, as text. */
  text(): string;
  /** Resolves once as many events were heard; those. */
  heard(count: number, timeoutMs?: number): Promise<HeardEvent[]>;
  untilEnded(timeoutMs?: number): Promise<void>;
  /** Takes nothing more from the connection, until `resume`. */
  pause(): void;
  resume(): void;
  close(): void;
}

export interface EventClientOptions {
  token?: string | undefined;
  lastEventId?: string | undefined;
  method?: string;
  path?: string;
  headers?: Record<string, string>;
}

interface Heard {
  events: HeardEvent[];
  comments: string[];
  lastId: string;
}

/** Reads one block of a stream (WHATWG HTML §9.2.6). */
function readBlock(block: string, heard: Heard): void {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === '') heard.comments.push(value);
    else fields[name] = value;
  }
  heard.lastId = fields.id ?? heard.lastId;
  if (fields.data === undefined) return;
  const { id = '', event = '', data } = fields;
  heard.events.push({ id, event, data: JSON.parse(data), heardAt: performance.now() });
}

function follow(response: IncomingMessage, heard: Heard) {
  const state = { text: '', ended: false };
  let rest = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    state.text += chunk;
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) readBlock(block, heard);
  });
  const end = (): void => {
    state.ended = true;
  };
  response.on('close', end).on('error', end);
  return state;
}

function connect(url: string, options: EventClientOptions): Promise<[IncomingMessage, ClientRequest]> {
  const { token, lastEventId, method = 'GET', path = '/v1/events', headers } = options;
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, {
      method,
      agent: false,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        ...headers,
      },
    });
    sent.on('error', reject);
    sent.on('response', (response) => resolve([response, sent]));
    sent.end();
  });
}

/** Opens a stream; resolves with its header, and of a stream that is served once its opening has arrived. */
export async function openEvents(url: string, options: EventClientOptions): Promise<EventClient> {
  const [response, sent] = await connect(url, options);
  const heard: Heard = { events: [], comments: [], lastId: '' };
  const state = follow(response, heard);
  const client: EventClient = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events: heard.events,
    comments: heard.comments,
    lastId: () => heard.lastId,
    isEnded: () => state.ended,
    text: () => state.text,
    heard: async (count, timeout = 10_000) => {
      await expect
        .poll(() => heard.events.length, { interval: 5, timeout, message: 'events heard' })
        .toBeGreaterThanOrEqual(count);
      return heard.events;
    },
    untilEnded: (timeout = 10_000) =>
      expect.poll(() => state.ended, { interval: 5, timeout, message: 'the stream has ended' }).toBe(true),
    pause: () => response.socket.pause(),
    resume: () => response.socket.resume(),
    close: () => sent.destroy(),
  };
  if (client.status !== 200) await client.untilEnded();
  else
    await expect.poll(() => heard.comments.length + Number(state.ended), { interval: 5 }).toBeGreaterThan(0);
  return client;
}

/** What a stream told, in short. */
export function tellsOf(events: readonly HeardEvent[], approvalId?: string): string[] {
  return events
    .filter(({ data }) => approvalId === undefined || data.approval_id === approvalId)
    .map(({ event }) => event.replace(/^approval\./, ''));
}
