import type { JsonObject } from './json.ts';

// Work that is done later, by whichever process is free. It is sent by storage, in the transaction of what it is for
// (ONE TRANSACTION), and so never lost and never done for what was rolled back.

/** Every queue; one is made for each when the database is migrated. */
export const JOB_QUEUES = ['webhook_deliveries'] as const;
export type JobQueueName = (typeof JOB_QUEUES)[number];

export interface NewJob {
  queue: JobQueueName;
  /** What the handler is given. Ids, not contents: it is read again when it is worked on. */
  data: JsonObject;
  /** How long it waits at least, by the database's clock; 0 for at once. */
  delaySeconds: number;
  /** Of the jobs whose time has come the one with the highest is taken first, and of those the oldest. */
  priority: number;
}

export interface WorkOptions {
  /** How many of the queue's jobs this process works on at once. */
  concurrency: number;
}

/**
 * Does one job. It is done once the promise resolves; when it rejects, or the process dies, it is tried again after a
 * while, so that a job is worked on at least once, and seldom more than once: the handler must bear that. `signal`
 * aborts when the process stops: what then rejects is tried again at once, elsewhere.
 */
export type JobHandler = (data: JsonObject, signal: AbortSignal) => Promise<void>;

export interface JobQueue {
  /** Works on a queue's jobs in this process from now on, oldest first. Call it once a queue. */
  work(queue: JobQueueName, options: WorkOptions, handler: JobHandler): void;
  /** Says that jobs of a queue were sent: they are looked for at once instead of within two seconds. */
  wake(queue: JobQueueName): void;
  /** Takes no further jobs; gives those in work a moment to end, then aborts them. */
  close(): Promise<void>;
}
