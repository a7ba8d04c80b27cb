import type { Socket } from 'node:net';

/**
 * Makes `destroySoon`, by which node:http ends a connection that is not kept alive, linger (RFC 9112 §9.6): the
 * answer is flushed and our side ended, and what the client still sends is read and thrown away until it closes
 * or `lingerMs` have passed. Closing at once while the client sends would reset the connection, and a reset can
 * reach it before the answer does.
 */
export function lingerOnClose(socket: Socket, lingerMs: number): void {
  let lingering = false;
  socket.destroySoon = () => {
    if (socket.destroyed || lingering) {
      return;
    }
    lingering = true;
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
    socket.end();
    socket.resume();
  };
}
