import { Fault } from '../core/fault.ts';

/** How much of a tenant's may wait, beside what is being done. */
export const WAITING_MAX = 20;

/** Long enough for most of what may wait to be done. */
const RETRY_AFTER_SECONDS = 2;

interface Queue {
  last: Promise<unknown>;
  /** Works that are not done: the one under way, and those that wait. */
  open: number;
}

function throttled(): Fault {
  return new Fault(
    'throttled',
    "too many of this tenant's policies are being checked. Wait for those to be answered, then send this again",
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

/** Does the works of each tenant one after another, in the order they came; what is too much is refused at once. */
export class TenantTurns {
  readonly #queues = new Map<string, Queue>();

  /** @throws Fault `throttled`; what the work throws. */
  async take<Answer>(tenantId: string, work: () => Promise<Answer>): Promise<Answer> {
    const queue = this.#queues.get(tenantId) ?? { last: Promise.resolve(), open: 0 };
    if (queue.open > WAITING_MAX) throw throttled();
    this.#queues.set(tenantId, queue);
    queue.open += 1;
    const turn = queue.last.then(work);
    queue.last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      queue.open -= 1;
      if (queue.open === 0) this.#queues.delete(tenantId);
    }
  }
}
