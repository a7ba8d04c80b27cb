import { WebSocket } from 'ws';

/**
 * Bytes that may wait to be sent before nothing more is read of the client, and, beside the largest message among them,
 * before it is given up.
 */
const PAUSE_BYTES = 256 * 1024;
const GIVE_UP_BYTES = 16 * 1024 * 1024;

/**
 * Sends JSON to a client at the client's pace. Who does not read what they asked for is not read either, and who lets
 * too much pile up is cut off: what waits here is memory. One message alone is never too much: what a list holds is not
 * its reader's choice.
 */
export class Outbox {
  readonly #socket: WebSocket;
  /** Bytes of the largest message since last nothing waited. */
  #largest = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** @throws RangeError when the message is longer than a string can be. */
  send(value: unknown): void {
    const socket = this.#socket;
    if (socket.readyState !== WebSocket.OPEN) return;
    const text = JSON.stringify(value);
    const before = socket.bufferedAmount === 0 ? 0 : this.#largest;
    this.#largest = Math.max(before, Buffer.byteLength(text));
    socket.send(text, () => {
      if (socket.isPaused && socket.bufferedAmount < PAUSE_BYTES) socket.resume();
    });
    if (socket.bufferedAmount - this.#largest > GIVE_UP_BYTES) socket.terminate();
    else if (socket.bufferedAmount > PAUSE_BYTES) socket.pause();
  }
}
