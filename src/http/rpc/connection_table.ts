import type { Asker } from '../../core/asker_ports.ts';
import { Fault } from '../../core/fault.ts';
import { CLOSE_CODES, type RpcConnection } from './connection.ts';

/** Connections of one key to one process. */
export const CONNECTIONS_PER_KEY_MAX = 64;

/** The open connections of a process, by key. */
export class ConnectionTable {
  readonly #byKey = new Map<string, Set<RpcConnection>>();

  /** @throws Fault `throttled` when the key has as many connections as it may. */
  assertRoom(keyId: string): void {
    if ((this.#byKey.get(keyId)?.size ?? 0) < CONNECTIONS_PER_KEY_MAX) return;
    const detail = `this key has ${CONNECTIONS_PER_KEY_MAX} connections open, the most it may. Close some`;
    throw new Fault('throttled', detail, { retryAfterSeconds: 1 });
  }

  /** Counts a connection for as long as it is open; resolves when it is not. */
  async hold(keyId: string, connection: RpcConnection): Promise<void> {
    const ofKey = this.#byKey.get(keyId) ?? new Set();
    this.#byKey.set(keyId, ofKey.add(connection));
    await connection.closed();
    ofKey.delete(connection);
    if (ofKey.size === 0) this.#byKey.delete(keyId);
  }

  /** Those that asks rest on. */
  listAskers(): Asker[] {
    return this.#all().flatMap(({ asks }) => (asks.isHolding ? [asks.asker] : []));
  }

  /** Asks every client whether it is there. */
  probe(): void {
    for (const connection of this.#all()) connection.probe();
  }

  /** Ends every connection; resolves when all are closed and nothing waits for them. */
  async endAll(): Promise<void> {
    const { goingAway } = CLOSE_CODES;
    await Promise.all(this.#all().map((connection) => connection.end(goingAway, 'the service stops')));
  }

  #all(): RpcConnection[] {
    return [...this.#byKey.values()].flatMap((ofKey) => [...ofKey]);
  }
}
