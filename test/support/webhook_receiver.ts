import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { vi } from 'vitest';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The body as JSON. */
  message: {
    type: string;
    timestamp: string;
    data: { approval_id: string; status: string; version: number };
  };
}

/** Answers a request that was received. */
export type Answer = (response: ServerResponse, received: Received) => void;

export interface WebhookReceiver {
  url: string;
  received: Received[];
  /** How it answers from now on. */
  answer: Answer;
  /** Waits until that much was received that a test looks for. */
  waitFor(count: number, of?: (received: Received) => boolean): Promise<Received[]>;
  close(): Promise<void>;
}

export const answerWith =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, headers).end('thanks');
  };

/** A receiver of webhooks on this machine; it answers 200 until told otherwise. */
export async function startReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const one = { path: request.url ?? '', headers: request.headers, body, message: JSON.parse(body) };
      received.push(one);
      receiver.answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: answerWith(200),
    waitFor: (count, of = () => true) =>
      vi.waitFor(
        () => {
          const found = received.filter(of);
          if (found.length < count) throw new Error(`${found.length} of ${count} received`);
          return found;
        },
        { timeout: 20_000, interval: 10 },
      ),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** Verifies a message as its receiver does. @throws WebhookVerificationError. */
export function verify({ body, headers }: Received, secret: string): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}
