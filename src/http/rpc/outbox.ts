import { WebSocket } from 'ws';

/** Bytes that may wait to be sent before nothing more is read of the client, and before it is given up. */
const PAUSE_BYTES = 256 * 1024;
const GIVE_UP_BYTES = 16 * 1024 * 1024;

/**
 * Sends JSON to a client at the client's pace. Who does not read what they asked for is not read either, and who lets
 * too much pile up is cut off: what waits here is memory.
 */
export class Outbox {
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  send(value: unknown): void {
    const socket = this.#socket;
    if (socket.readyState !== WebSocket.OPEN) return;
    socket.send(JSON.stringify(value), () => {
      if (socket.isPaused && socket.bufferedAmount < PAUSE_BYTES) socket.resume();
    });
    if (socket.bufferedAmount > GIVE_UP_BYTES) socket.terminate();
    else if (socket.bufferedAmount > PAUSE_BYTES) socket.pause();
  }
}
