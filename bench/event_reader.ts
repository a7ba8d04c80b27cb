import { connect, type Socket } from 'node:net';

/** How the stream of an ask's event begins; what else is told is not counted. */
const ASKED = Buffer.from('\nevent: approval.requested\n');

/** One open stream of events; counts the asks that it is told of. Far cheaper than a client that reads them. */
export class EventReader {
  readonly #socket: Socket;
  #rest: Buffer = Buffer.alloc(0);
  /** When each ask was heard of, by the monotonic clock. */
  readonly heardAt: number[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#onData(chunk));
    socket.on('error', () => undefined);
  }

  /** Resolves once the stream has begun. */
  static async open(url: string, token: string): Promise<EventReader> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(`GET /v1/events HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n`);
    const first = await new Promise<Buffer>((resolve, reject) => {
      socket.once('data', resolve);
      socket.once('error', reject);
    });
    const status = first.toString('latin1', 9, 12);
    if (status !== '200') throw new Error(`the events answered ${status}`);
    return new EventReader(socket);
  }

  close(): void {
    this.#socket.destroy();
  }

  #onData(chunk: Buffer): void {
    const bytes = Buffer.concat([this.#rest, chunk]);
    let from = 0;
    for (let at = bytes.indexOf(ASKED); at !== -1; at = bytes.indexOf(ASKED, from)) {
      this.heardAt.push(performance.now());
      from = at + ASKED.length;
    }
    this.#rest = bytes.subarray(Math.max(from, bytes.length - ASKED.length + 1));
  }
}
