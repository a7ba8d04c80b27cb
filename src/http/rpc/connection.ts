import { setMaxListeners } from 'node:events';
import type { WebSocket } from 'ws';
import type { Caller } from '../../core/caller.ts';
import { Fault } from '../../core/fault.ts';
import type { Deps } from '../../operations/deps.ts';
import type { CommandNews } from '../../operations/rpc/follow_commands.ts';
import { watchKey } from '../../operations/watch_key.ts';
import type { Log } from '../log.ts';
import { newRequestId } from '../request_id.ts';
import { type AnswerContext, answerMessage, type RpcResponse } from './answer.ts';
import { toPendingCommand, toResolvedCommand } from './command_view.ts';
import { ConnectionAsks } from './connection_asks.ts';
import { type RpcMessage, readFrame } from './json_rpc.ts';
import { Outbox } from './outbox.ts';
import { RPC_CODES, toErrorObject } from './rpc_error.ts';

/** Requests of one connection that are being answered at once, waits included. */
export const IN_FLIGHT_MAX = 64;
/** How long the client has to answer a close, before it is cut off. */
const CLOSE_MS = 500;

/** Close codes of RFC 6455 §7.4.1. */
export const CLOSE_CODES = {
  goingAway: 1001,
  unsupportedData: 1003,
  policyViolation: 1008,
  tooBig: 1009,
} as const;

export interface ConnectionOptions {
  deps: Deps;
  log: Log;
  /** The caller when the connection was opened: its roles and tenant are its key's and do not change. */
  caller: Caller;
  identify: () => Promise<Caller>;
  connectionId: string;
}

/** One open connection: what it asked for, what it is answered, and what it is told unasked. */
export class RpcConnection {
  readonly asks: ConnectionAsks;
  readonly #socket: WebSocket;
  readonly #outbox: Outbox;
  readonly #options: ConnectionOptions;
  readonly #ending = new AbortController();
  readonly #context: AnswerContext;
  #inFlight = 0;
  #isAlive = true;

  constructor(socket: WebSocket, options: ConnectionOptions) {
    const { deps, log, caller, connectionId, identify } = options;
    this.#socket = socket;
    // Each open wait listens, and takes its listener away again: many are no leak to warn of.
    setMaxListeners(0, this.#ending.signal);
    this.#options = options;
    this.#outbox = new Outbox(socket);
    this.asks = new ConnectionAsks(deps, log, { tenantId: caller.tenantId, connectionId });
    this.#context = { deps, log, identify, asks: this.asks, signal: this.#ending.signal };
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    socket.on('message', (data: Buffer, isBinary) => this.#read(data, isBinary));
    // What a client sends against the protocol closes the connection, and is nobody's trouble but its own.
    socket.on('error', () => undefined);
    void watchKey(deps, caller, this.#ending.signal).then((fault) => {
      if (fault !== undefined) void this.end(CLOSE_CODES.policyViolation, 'the credential no longer stands');
    });
  }

  /** Resolves once the socket is closed, by whomever, and what the connection asked for is withdrawn. */
  async closed(): Promise<void> {
    if (this.#socket.readyState !== this.#socket.CLOSED) {
      await new Promise((resolve) => this.#socket.once('close', resolve));
    }
    this.#ending.abort();
    await this.asks.end();
  }

  /** Ends the connection, at once for all that it may do; resolves as `closed`. */
  end(code: number, reason: string): Promise<void> {
    this.#ending.abort();
    void this.asks.end();
    this.#socket.close(code, reason);
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_MS);
    return this.closed().finally(() => clearTimeout(timer));
  }

  /** Asks whether the client is there; one that has not answered since the last time is cut off. */
  probe(): void {
    if (!this.#isAlive) {
      this.#socket.terminate();
      return;
    }
    this.#isAlive = false;
    this.#socket.ping();
  }

  /** Tells an approver of commands that were asked and decided. */
  tell({ requested, resolved }: CommandNews): void {
    if (this.#ending.signal.aborted) return;
    const { caller, log } = this.#options;
    try {
      for (const approval of requested) {
        this.#notify('exec.approval.requested', toPendingCommand(approval, caller));
      }
      for (const approval of resolved) this.#notify('exec.approval.resolved', toResolvedCommand(approval));
    } catch (error) {
      log.error({ err: error, request_id: newRequestId() }, 'a command could not be shown to an approver');
    }
  }

  #notify(method: string, params: object): void {
    this.#outbox.send({ jsonrpc: '2.0', method, params });
  }

  #read(data: Buffer, isBinary: boolean): void {
    if (this.#ending.signal.aborted) return;
    if (isBinary) {
      void this.end(CLOSE_CODES.unsupportedData, 'send json as text');
      return;
    }
    this.#answerFrame(data).catch((error: unknown) => {
      this.#options.log.error({ err: error, request_id: newRequestId() }, 'an answer could not be written');
      void this.end(CLOSE_CODES.tooBig, 'the answer is larger than can be sent');
    });
  }

  async #answerFrame(data: Buffer): Promise<void> {
    const frame = readFrame(data);
    if (frame.kind === 'unreadable') {
      const error = toErrorObject(frame.fault, newRequestId(), { code: RPC_CODES.unreadable });
      this.#outbox.send({ jsonrpc: '2.0', id: null, error });
      return;
    }
    if (frame.kind === 'single') {
      const answer = await this.#answer(frame.message);
      if (answer !== undefined) this.#outbox.send(answer);
      return;
    }
    const answers = await Promise.all(frame.messages.map((message) => this.#answer(message)));
    const answered = answers.filter((answer) => answer !== undefined);
    if (answered.length > 0) this.#outbox.send(answered);
  }

  async #answer(message: RpcMessage): Promise<RpcResponse | undefined> {
    if (this.#inFlight >= IN_FLIGHT_MAX) return tooMany(message);
    this.#inFlight += 1;
    try {
      return await answerMessage(message, this.#context);
    } finally {
      this.#inFlight -= 1;
    }
  }
}

function tooMany(message: RpcMessage): RpcResponse | undefined {
  const id = message.kind === 'invalid' ? message.id : message.request.id;
  if (id === undefined) return undefined;
  const detail = `this connection has ${IN_FLIGHT_MAX} requests open, the most it may. Wait for some to be answered`;
  const fault = new Fault('throttled', detail, { retryAfterSeconds: 1 });
  return { jsonrpc: '2.0', id, error: toErrorObject(fault, newRequestId()) };
}
