import { CommandFailed } from '../command.ts';
import type { Access } from './access.ts';
import { failedAnswer, failedConnection } from './trouble.ts';

const SECONDS_MAX = 30;

/** An answer of success. */
export interface Answer {
  text: string;
  /** When it was given by the service's clock, in milliseconds. */
  at: number;
}

/**
 * The REST API as one key. Every call fails with a `CommandFailed` that says what the service said, or that it cannot
 * be reached; the key is in none.
 */
export interface Client {
  get(path: string, accept?: string): Promise<Answer>;
  /** A decision on an approval. `headers` are those beside the usual ones. */
  vote(path: string, body: object, headers?: Record<string, string>): Promise<Answer>;
  /** Opens `GET /v1/events`, after a position where one is known; it goes on until it is aborted. */
  openEvents(lastEventId: string | undefined, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

export function createClient({ url, key }: Access): Client {
  const call = async (
    path: string,
    init: RequestInit,
    headers: Record<string, string>,
  ): Promise<Response> => {
    const asked = { url, isVote: init.method === 'POST' };
    let response: Response;
    try {
      // A redirect is not followed: the key is for the service that was named.
      response = await fetch(`${url}${path}`, {
        ...init,
        redirect: 'manual',
        headers: { authorization: `Bearer ${key}`, ...headers },
      });
    } catch (error) {
      throw failedConnection(error, asked);
    }
    if (response.status === 200) return response;
    throw failedAnswer(response, await readText(response, asked), asked);
  };

  const read = async (
    path: string,
    init: RequestInit,
    headers: Record<string, string>,
    mediaType: string,
  ): Promise<Answer> => {
    const response = await call(path, { ...init, signal: AbortSignal.timeout(SECONDS_MAX * 1000) }, headers);
    assertMediaType(response, mediaType, url);
    const text = await readText(response, { url, isVote: init.method === 'POST' });
    const date = Date.parse(response.headers.get('date') ?? '');
    return { text, at: Number.isNaN(date) ? Date.now() : date };
  };

  return {
    get: (path, accept = 'application/json') => read(path, { method: 'GET' }, { accept }, accept),
    vote: (path, body, headers = {}) =>
      read(
        path,
        { method: 'POST', body: JSON.stringify(body) },
        { accept: 'application/json', 'content-type': 'application/json', ...headers },
        'application/json',
      ),
    openEvents: async (lastEventId, signal) => {
      const position: Record<string, string> =
        lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
      const headers = { accept: 'text/event-stream', 'cache-control': 'no-store', ...position };
      const response = await call('/v1/events', { method: 'GET', signal }, headers);
      assertMediaType(response, 'text/event-stream', url);
      if (response.body === null) throw failedConnection(new Error('no body'), { url, isVote: false });
      return response.body;
    },
  };
}

async function readText(response: Response, asked: { url: string; isVote: boolean }): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw failedConnection(error, asked);
  }
}

function assertMediaType(response: Response, mediaType: string, url: string): void {
  const [sent = ''] = (response.headers.get('content-type') ?? '').split(';');
  if (sent.trim().toLowerCase() === mediaType) return;
  throw new CommandFailed(2, `${url} does not answer as Aegis does. Check AEGIS_URL`);
}
