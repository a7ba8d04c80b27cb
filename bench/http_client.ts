import { connect, type Socket } from 'node:net';

export interface HttpAnswer {
  status: number;
  body: string;
}

interface Waiting {
  resolve: (answer: HttpAnswer) => void;
  reject: (error: Error) => void;
}

const HEADER_END = Buffer.from('\r\n\r\n');

/** Prepares a request's bytes, so that sending it costs one write. */
export function buildRequest(url: string, method: string, path: string, token: string, body = ''): Buffer {
  const head = [
    `${method} ${path} HTTP/1.1`,
    `host: ${new URL(url).host}`,
    `authorization: Bearer ${token}`,
    ...(body === '' ? [] : ['content-type: application/json']),
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/**
 * One keep-alive connection with one request under way at a time. Far cheaper than a general client: the machine's
 * cores are shared with what is measured. Understands answers with `Content-Length` only, and fails on others.
 */
export class HttpClient {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #waiting: Waiting | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#onData(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  static async open(url: string): Promise<HttpClient> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new HttpClient(socket);
  }

  send(request: Buffer): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (this.#socket.writable) this.#socket.write(request);
      else this.#fail(new Error('the server closed the connection'));
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #onData(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf(HEADER_END);
    if (headEnd === -1) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      this.#fail(new Error(`an answer without content-length: ${head}`));
      return;
    }
    const bodyStart = headEnd + HEADER_END.length;
    const bodyEnd = bodyStart + Number(length);
    if (this.#received.length < bodyEnd) return;
    const body = this.#received.toString('utf8', bodyStart, bodyEnd);
    this.#received = this.#received.subarray(bodyEnd);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ status: Number(head.slice(9, 12)), body });
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}
