import { connect, type Socket } from 'node:net';

/** How the stream of an ask's event begins; what else is told is not counted. */
const ASKED = Buffer.from('\nevent: approval.requested\n');

/** What opens a stream. */
export interface EventStreamRequest {
  path: string;
  /** The header that says who reads. */
  credential: string;
}

/** One open stream of events; counts the asks that it is told of. Far cheaper than a client that reads them. */
export class EventReader {
  readonly #socket: Socket;
  readonly #onEvents: (text: string) => void;
  #rest: Buffer = Buffer.alloc(0);
  /** When each ask was heard of, by the monotonic clock. */
  readonly heardAt: number[] = [];

  private constructor(socket: Socket, onEvents: (text: string) => void) {
    this.#socket = socket;
    this.#onEvents = onEvents;
    socket.on('data', (chunk) => this.#onData(chunk));
    socket.on('error', () => undefined);
  }

  /** Resolves once the stream has begun; `onEvents` gets what comes from then on. */
  static async open(
    url: string,
    { path, credential }: EventStreamRequest,
    onEvents: (text: string) => void = () => undefined,
  ): Promise<EventReader> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${credential}\r\n\r\n`);
    const first = await new Promise<Buffer>((resolve, reject) => {
      socket.once('data', resolve);
      socket.once('error', reject);
    });
    const status = first.toString('latin1', 9, 12);
    if (status !== '200') throw new Error(`the events answered ${status}`);
    return new EventReader(socket, onEvents);
  }

  close(): void {
    this.#socket.destroy();
  }

  #onData(chunk: Buffer): void {
    this.#onEvents(chunk.toString('latin1'));
    const bytes = Buffer.concat([this.#rest, chunk]);
    let from = 0;
    for (let at = bytes.indexOf(ASKED); at !== -1; at = bytes.indexOf(ASKED, from)) {
      this.heardAt.push(performance.now());
      from = at + ASKED.length;
    }
    this.#rest = bytes.subarray(Math.max(from, bytes.length - ASKED.length + 1));
  }
}
