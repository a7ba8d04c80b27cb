import { parseAnswers, type RawAnswer, RawClient } from '../http/raw_http.ts';
import type { SeenAnswer } from './refusal.ts';

/** The longest that a connection of these tests may stay open when nothing of the server's has to run out. */
const CLOSE_SECONDS_MAX = 10;

/** Sends bytes on a connection of their own; the answers received until it closed. Fails when it stays open. */
export async function exchange(
  url: string,
  bytes: string | Uint8Array,
  secondsMax = CLOSE_SECONDS_MAX,
): Promise<SeenAnswer[]> {
  const client = new RawClient(url);
  const timer = setTimeout(() => client.socket.destroy(new Error('still open')), secondsMax * 1000);
  await client.send(bytes);
  const received = await client.ended;
  clearTimeout(timer);
  if (client.errors.some((error) => error.message === 'still open')) {
    throw new Error(`the connection stayed open after: ${received.slice(0, 300)}`);
  }
  return parseAnswers(received).map(toSeen);
}

export function toSeen({ status, headers, body }: RawAnswer): SeenAnswer {
  return { status, headers, text: body };
}

/** A request as bytes; the connection closes after its answer. */
export function request(
  method: string,
  target: string,
  headers: readonly string[] = [],
  body = '',
  version = '1.1',
): string {
  const framing = body === '' ? [] : [`content-length: ${Buffer.byteLength(body)}`];
  const lines = ['host: localhost', 'connection: close', ...headers, ...framing];
  return `${method} ${target} HTTP/${version}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}`;
}
