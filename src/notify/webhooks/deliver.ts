import { formatId } from '../../core/ids.ts';
import type { JobHandler } from '../../core/job_ports.ts';
import type { JsonObject } from '../../core/json.ts';
import type { AttemptRecord, AttemptTicket, WebhookOutbox } from '../../core/webhook_ports.ts';
import { type PostOptions, type PostOutcome, sendPost } from './post.ts';
import { parseRetryAfter, secondsUntilNext } from './retry.ts';
import { signMessage } from './signature.ts';

export interface DeliverOptions extends PostOptions {
  outbox: Pick<WebhookOutbox, 'findDue' | 'recordAttempt'>;
  /** Pauses between attempts, in seconds. */
  schedule: readonly number[];
  now: () => Date;
  /** A number in [0, 1), for the jitter. */
  random: () => number;
  /** Called after each attempt. */
  onAttempt: () => void;
}

const GONE = 410;
/** Too Many Requests and Service Unavailable: those whose `Retry-After` is heeded. */
const TELL_WHEN = [429, 503];

function readTicket(data: JsonObject): AttemptTicket {
  const { tenant_id, delivery_id, round, attempt } = data;
  if (
    typeof tenant_id !== 'string' ||
    typeof delivery_id !== 'string' ||
    typeof round !== 'number' ||
    typeof attempt !== 'number'
  ) {
    throw new TypeError('a job of deliveries names no attempt');
  }
  return { tenant_id, delivery_id, round, attempt };
}

function judge(ticket: AttemptTicket, outcome: PostOutcome, options: DeliverOptions): AttemptRecord {
  const status = outcome.kind === 'answered' ? outcome.status : null;
  if (status !== null && status >= 200 && status < 300) return { kind: 'delivered', status };
  if (status === GONE) return { kind: 'gone', status };
  const error = outcome.kind === 'answered' ? `the answer was ${outcome.status}` : outcome.error;
  const retryAfter =
    outcome.kind === 'answered' && TELL_WHEN.includes(outcome.status)
      ? parseRetryAfter(outcome.retryAfter, options.now())
      : null;
  const delaySeconds = secondsUntilNext(options.schedule, ticket.attempt + 1, retryAfter, options.random());
  return delaySeconds === null
    ? { kind: 'dead', status, error }
    : { kind: 'retry', status, error, delaySeconds };
}

/**
 * Makes one attempt of a delivery and keeps how it ended. At least once: when the process dies between the receiver's
 * yes and the database's, the same message is sent again, under the same id.
 */
export function createDeliverer(options: DeliverOptions): JobHandler {
  const { outbox } = options;
  return async (data, signal) => {
    const ticket = readTicket(data);
    const due = await outbox.findDue(ticket);
    if (due === undefined) return;
    const id = formatId('delivery', ticket.delivery_id);
    const headers = signMessage(id, due.payload, due.secrets, options.now());
    const outcome = await sendPost({ url: due.url, headers, body: due.payload }, options, signal);
    await outbox.recordAttempt(ticket, judge(ticket, outcome, options));
    options.onAttempt();
  };
}
