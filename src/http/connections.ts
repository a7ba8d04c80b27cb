import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Fault } from '../core/fault.ts';
import { lingerOnClose } from './linger.ts';
import { writeRawProblem } from './raw_problem.ts';

interface Exchange {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
}

/** The open connections of a server, and for each the latest request read from it. */
export class Connections {
  readonly #lingerMs: number;
  readonly #latest = new Map<Duplex, Exchange | undefined>();
  readonly #refused = new WeakSet<Duplex>();
  #closing = false;

  constructor(lingerMs: number) {
    this.#lingerMs = lingerMs;
  }

  /** Starts to follow a connection; forgets it when it closes. */
  add(socket: Socket): void {
    // node takes its own listener away before it emits `connect`; a reset without any would end the process.
    socket.on('error', () => undefined);
    lingerOnClose(socket, this.#lingerMs);
    this.#latest.set(socket, undefined);
    socket.once('close', () => this.#latest.delete(socket));
  }

  /** Notes the latest request of its connection. */
  begin(exchange: Exchange): void {
    const { socket } = exchange.incoming;
    this.#latest.set(socket, exchange);
    if (this.#closing) {
      exchange.outgoing.shouldKeepAlive = false;
    }
    exchange.outgoing.once('close', () => {
      if (this.#closing) {
        socket.destroySoon();
      }
    });
  }

  /** Whether no answer is owed on a connection. */
  isIdle(socket: Duplex): boolean {
    return this.#latest.get(socket)?.outgoing.writableFinished ?? true;
  }

  /**
   * Answers for the bytes a connection broke on, then closes it. A request that was read whole before gets its own
   * answer first; when the answer to the broken one has begun, or another's turn is, only the close is left.
   */
  refuse(socket: Socket, fault: Fault): void {
    if (this.#refused.has(socket)) {
      return;
    }
    this.#refused.add(socket);
    const latest = this.#latest.get(socket);
    if (!socket.writable) {
      socket.destroy();
    } else if (latest === undefined || latest.outgoing.writableFinished) {
      endWith(socket, fault);
    } else if (latest.incoming.complete) {
      latest.outgoing.once('close', () => endWith(socket, fault));
    } else if (latest.outgoing.socket === socket && !latest.outgoing.headersSent) {
      endWith(socket, fault);
    } else {
      socket.destroy();
    }
  }

  /** Ends what is idle at once, and every other connection after the answer it owes. */
  beginClosing(): void {
    this.#closing = true;
    for (const [socket, latest] of this.#latest) {
      if (latest === undefined || latest.outgoing.writableFinished) {
        socket.destroy();
      } else if (!latest.outgoing.headersSent) {
        latest.outgoing.shouldKeepAlive = false;
      }
    }
  }

  /** Cuts every connection, answered or not. */
  destroyAll(): void {
    for (const socket of this.#latest.keys()) {
      socket.destroy();
    }
  }
}

function endWith(socket: Socket, fault: Fault): void {
  if (socket.writable) {
    writeRawProblem(socket, fault);
  }
  socket.destroySoon();
}
