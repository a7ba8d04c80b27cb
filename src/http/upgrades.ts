import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Fault } from '../core/fault.ts';
import type { Connections } from './connections.ts';
import type { Log } from './log.ts';
import { logFault } from './log_fault.ts';
import { newRequestId } from './request_id.ts';
import { findRefusal } from './request_refusal.ts';
import { toFault } from './to_fault.ts';

/** What takes connections over for another protocol. */
export interface Upgrades {
  /** Whether a request asks for that protocol where it is spoken. */
  accepts(incoming: IncomingMessage): boolean;
  /** Takes the connection over. @throws whatever it is refused for; the connection is then still ours. */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
}

/** Headers of one connection that ask for another protocol; `http2-settings` goes with `h2c`. */
const ASKING: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

/** A request's header as it came, without what asks for another protocol. */
function writeHeader({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    if (ASKING.has(name.toLowerCase())) continue;
    const isConnection = name.toLowerCase() === 'connection';
    const options = value.split(',').filter((option) => !ASKING.has(option.trim().toLowerCase()));
    lines.push(`${name}: ${isConnection ? options.join(',').trim() : value}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/**
 * Serves a request as though it had not asked for another protocol (RFC 9110 §7.8): node takes each that does for one
 * to upgrade as soon as anybody listens, and clients ask for `h2c` by themselves. The connection starts anew with the
 * request's own bytes.
 */
function serveWithout(server: Server, incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
  socket.unshift(Buffer.concat([writeHeader(incoming), head]));
  server.emit('connection', socket);
}

/** Lets `upgrades` take over the connections that ask for it; every other request is served as any. */
export function listenForUpgrades(
  server: Server,
  connections: Connections,
  upgrades: Upgrades,
  log: Log,
): void {
  const refuse = (socket: Duplex, error: unknown): void => {
    const fault = toFault(error);
    logFault(log, fault, newRequestId());
    connections.refuse(socket as Socket, fault);
  };
  server.on('upgrade', (incoming, socket, head) => {
    if (!connections.isIdle(socket)) {
      refuse(socket, new Fault('bad_request', 'an answer is still owed on this connection. Upgrade another'));
    } else if (!upgrades.accepts(incoming)) {
      serveWithout(server, incoming, socket, head);
    } else {
      const refusal = findRefusal(incoming);
      const taken =
        refusal === undefined ? upgrades.upgrade(incoming, socket, head) : Promise.reject(refusal);
      taken.catch((error: unknown) => refuse(socket, error));
    }
  });
}
