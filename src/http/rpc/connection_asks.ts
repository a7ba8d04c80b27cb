import type { Asker } from '../../core/asker_ports.ts';
import { Fault } from '../../core/fault.ts';
import type { Deps } from '../../operations/deps.ts';
import { withdrawAsks } from '../../operations/rpc/asker_leases.ts';
import type { Log } from '../log.ts';

/** How soon a withdrawal that could not be made is tried again, while the connection lasts. */
const AGAIN_MS = 1_000;

/**
 * What one connection has asked for and waits for. An ask lasts as long as its connection and the time that its asker
 * gave it, whichever is shorter; one that is detached is not held here.
 */
export class ConnectionAsks {
  readonly asker: Asker;
  readonly #deps: Deps;
  readonly #log: Log;
  readonly #held = new Map<string, NodeJS.Timeout>();
  #hasAsked = false;
  #hasEnded = false;
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(deps: Deps, log: Log, asker: Asker) {
    this.#deps = deps;
    this.#log = log;
    this.asker = asker;
  }

  /** Whether anything was ever asked on this connection, detached or not, granted or not. */
  get hasAsked(): boolean {
    return this.#hasAsked;
  }

  /** Whether an ask rests on this connection being there. */
  get isHolding(): boolean {
    return this.#held.size > 0;
  }

  markAsked(): void {
    this.#hasAsked = true;
  }

  has(approvalId: string): boolean {
    return this.#held.has(approvalId);
  }

  /**
   * Asks one after the other: the database takes an agent's asks so anyway, and who waits here for a turn holds none
   * of its connections.
   */
  inTurn<T>(ask: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(() => {
      if (this.#hasEnded) throw new Fault('bad_request', 'the connection has ended before this was asked');
      return ask();
    });
    this.#lastTurn = turn.catch(() => undefined);
    return turn;
  }

  /** Holds an ask for so long, and then withdraws it; one that was made for a connection that has ended, at once. */
  hold(approvalId: string, forMs: number): void {
    if (this.#hasEnded) void this.#withdraw(approvalId);
    else
      this.#held.set(
        approvalId,
        setTimeout(() => void this.#expire(approvalId), forMs),
      );
  }

  /** Forgets an ask that was decided. */
  release(approvalId: string): void {
    clearTimeout(this.#held.get(approvalId));
    this.#held.delete(approvalId);
  }

  /** Withdraws whatever is still held. Never rejects: what cannot be withdrawn now ends with its lease. */
  async end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const wasHolding = this.isHolding;
    for (const timer of this.#held.values()) clearTimeout(timer);
    this.#held.clear();
    if (wasHolding) await this.#withdraw(null);
  }

  async #expire(approvalId: string): Promise<void> {
    const isDone = await this.#withdraw(approvalId);
    if (!this.#held.has(approvalId)) return;
    if (isDone) this.release(approvalId);
    else this.hold(approvalId, AGAIN_MS);
  }

  async #withdraw(approvalId: string | null): Promise<boolean> {
    try {
      await withdrawAsks(this.#deps, this.asker, approvalId);
      return true;
    } catch (error) {
      this.#log.warn({ err: error }, 'an ask whose asker is gone could not be withdrawn now');
      return false;
    }
  }
}
