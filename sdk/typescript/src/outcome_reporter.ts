import { pause, pauseBeforeMs } from './backoff.ts';
import { sendOutcome } from './calls.ts';
import type { Connection } from './connection.ts';
import { isPassing } from './errors.ts';
import type { OutcomeInput } from './wire.ts';

/** Called when an outcome could not be reported; the approval stays consumed without one. */
export type ReportFailed = (failure: { approvalId: string; outcome: OutcomeInput; error: unknown }) => void;

/** A guarded call waits this long for its report; what takes longer goes on behind it. */
const REPORT_WAIT_MS = 2_000;

/** Reports outcomes; a report that fails never fails the call it is about. */
export class OutcomeReporter {
  readonly #connection: Connection;
  readonly #onFailed: ReportFailed | undefined;
  readonly #underWay = new Set<Promise<void>>();

  constructor(connection: Connection, onFailed: ReportFailed | undefined) {
    this.#connection = connection;
    this.#onFailed = onFailed;
  }

  /** Resolves when the report is made or given up, or after two seconds, while it goes on. Never rejects. */
  async report(approvalId: string, outcome: OutcomeInput): Promise<void> {
    const delivery = this.#deliver(approvalId, outcome).finally(() => this.#underWay.delete(delivery));
    this.#underWay.add(delivery);
    const enough = new AbortController();
    const wait = pause(REPORT_WAIT_MS, enough.signal).catch(() => undefined);
    await Promise.race([delivery, wait]);
    enough.abort();
  }

  /** Resolves when every report so far is made or given up. Never rejects. */
  async flush(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #deliver(approvalId: string, outcome: OutcomeInput): Promise<void> {
    const end = performance.now() + this.#connection.retry.outageMs;
    for (let turn = 0; ; turn += 1) {
      try {
        await sendOutcome(this.#connection, approvalId, outcome, { answersLostBefore: turn > 0 });
        return;
      } catch (error) {
        const pauseMs = isPassing(error)
          ? pauseBeforeMs(this.#connection.retry, turn, error.retryAfterSeconds)
          : undefined;
        if (pauseMs === undefined || performance.now() >= end) {
          this.#giveUp(approvalId, outcome, error);
          return;
        }
        await pause(pauseMs);
      }
    }
  }

  #giveUp(approvalId: string, outcome: OutcomeInput, error: unknown): void {
    try {
      this.#onFailed?.({ approvalId, outcome, error });
    } catch {
      // The hook's own failure has nobody to go to: the call it is about has its own end.
    }
  }
}
