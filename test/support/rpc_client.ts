import { afterEach } from 'vitest';
import { WebSocket } from 'ws';

/** What a call was refused with. */
export class RpcFailure extends Error {
  constructor(
    readonly code: number,
    message: string,
    // biome-ignore lint/suspicious/noExplicitAny: a problem's members are what a test asserts
    readonly data: any,
  ) {
    super(message);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: an answer's members are what a test asserts
type Answer = any;

export interface OpenOptions {
  headers?: Record<string, string>;
  protocols?: string[];
}

/** A connection to `/v1/rpc` as one credential. */
export class RpcClient {
  readonly socket: WebSocket;
  /** Every notification that came, oldest first. */
  readonly notifications: { method: string; params: Answer }[] = [];
  /** Every message that is no answer to a `call`, as parsed. */
  readonly others: Answer[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #waiting = new Map<
    number,
    { resolve: (result: Answer) => void; reject: (error: Error) => void }
  >();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => this.#receive(JSON.parse(data.toString())));
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        for (const { reject } of this.#waiting.values()) reject(new Error(`closed with ${code}`));
        resolve({ code, reason: reason.toString() });
      });
    });
  }

  /** Rejects with the status when the connection is refused. */
  static async open(url: string, token: string, options: OpenOptions = {}): Promise<RpcClient> {
    const headers = { authorization: `Bearer ${token}`, ...options.headers };
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/rpc`, options.protocols ?? [], { headers });
    const client = new RpcClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return client;
  }

  call(method: string, params: object = {}): Promise<Answer> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.send({ jsonrpc: '2.0', id, method, params });
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** The failure that a call ends in. @throws when it succeeds. */
  async fail(method: string, params: object = {}): Promise<RpcFailure> {
    const outcome: unknown = await this.call(method, params).catch((error: unknown) => error);
    if (outcome instanceof RpcFailure) return outcome;
    throw new Error(`not refused: ${JSON.stringify(outcome)}`);
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }

  #receive(message: Answer): void {
    const waiting = Array.isArray(message) ? undefined : this.#waiting.get(message.id);
    if (waiting !== undefined) {
      this.#waiting.delete(message.id);
      const { error, result } = message;
      if (error === undefined) waiting.resolve(result);
      else waiting.reject(new RpcFailure(error.code, error.message, error.data));
    } else if (message.method !== undefined) this.notifications.push(message);
    else this.others.push(message);
  }
}

/** Opens connections that are closed after each test of the file that calls this. */
export function createRpcOpener(): (url: string, token: string) => Promise<RpcClient> {
  const opened: RpcClient[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((client) => client.close()));
  });
  return async (url, token) => {
    const client = await RpcClient.open(url, token);
    opened.push(client);
    return client;
  };
}
