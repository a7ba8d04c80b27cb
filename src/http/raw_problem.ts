import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Fault } from '../core/fault.ts';
import { buildProblem } from './problem.ts';
import { newRequestId } from './request_id.ts';

/**
 * Writes the answer to a request that could not be read; closing is the caller's. By hand, since
 * there is no response object yet.
 */
export function writeRawProblem(socket: Duplex, fault: Fault): void {
  const { status, headers, text } = closingProblem(fault);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
}

/** Answers a request that is refused before the app sees it, and closes its connection. */
export function sendProblem(outgoing: ServerResponse, fault: Fault): void {
  const { status, headers, text } = closingProblem(fault);
  outgoing.writeHead(status, headers).end(text);
}

function closingProblem(fault: Fault): { status: number; headers: Record<string, string>; text: string } {
  const { status, headers, body } = buildProblem(fault, { requestId: newRequestId() });
  const text = JSON.stringify(body);
  return {
    status,
    headers: {
      ...headers,
      'content-length': String(Buffer.byteLength(text)),
      date: new Date().toUTCString(),
      connection: 'close',
    },
    text,
  };
}
