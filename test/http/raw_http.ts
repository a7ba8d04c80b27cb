import { connect, type Socket } from 'node:net';
import type { Log } from '../../src/http/log.ts';

/** One HTTP/1.1 answer as it came over the wire. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A log that keeps what it is told. */
export function recordingLog(): Log & { lines: { fields: object; message: string }[] } {
  const lines: { fields: object; message: string }[] = [];
  const record = (fields: object, message: string) => {
    lines.push({ fields, message });
  };
  return { lines, warn: record, error: record };
}

/** A promise and what resolves it: a point in time that a test waits for. */
export function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A TCP connection to a server's URL that collects all it receives. */
export class RawClient {
  readonly socket: Socket;
  /** Resolves to all that was received when the connection has ended, however it ended. */
  readonly ended: Promise<string>;
  readonly errors: Error[] = [];
  #received = '';

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect(Number(port), hostname.replace(/[[\]]/g, ''));
    this.socket.setEncoding('utf8').on('data', (text: string) => {
      this.#received += text;
    });
    this.socket.on('error', (error) => this.errors.push(error));
    this.ended = new Promise((resolve) => {
      this.socket.on('close', () => resolve(this.#received));
    });
  }

  /** Sends bytes; resolves once the kernel has them, or the connection is gone. */
  send(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.socket.once('close', resolve);
      this.socket.write(bytes, () => {
        this.socket.off('close', resolve);
        resolve();
      });
    });
  }

  /** Resolves once that many answers have been received whole. */
  async answers(count: number): Promise<RawAnswer[]> {
    for (;;) {
      const answers = parseAnswers(this.#received);
      if (answers.length >= count) {
        return answers;
      }
      await new Promise((resolve, reject) => {
        this.socket.once('data', resolve);
        this.socket.once('close', () => reject(new Error(`closed after: ${this.#received}`)));
      });
    }
  }
}

/** Sends bytes on a new connection and returns the answers received until it was closed. */
export async function rawExchange(url: string, bytes: string | Uint8Array): Promise<RawAnswer[]> {
  const client = new RawClient(url);
  await client.send(bytes);
  return parseAnswers(await client.ended);
}

/** Splits what was received into its answers; an unfinished one at the end is left out. */
export function parseAnswers(received: string): RawAnswer[] {
  const headerEnd = received.indexOf('\r\n\r\n');
  if (headerEnd === -1) {
    return [];
  }
  const [statusLine = '', ...lines] = received.slice(0, headerEnd).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const length = Number(headers['content-length'] ?? 0);
  const rest = Buffer.from(received.slice(headerEnd + 4));
  if (rest.length < length) {
    return [];
  }
  const answer = {
    status: Number(statusLine.split(' ')[1]),
    headers,
    body: rest.subarray(0, length).toString(),
  };
  return [answer, ...parseAnswers(rest.subarray(length).toString())];
}
