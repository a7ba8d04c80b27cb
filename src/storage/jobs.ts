import { setMaxListeners } from 'node:events';
import type PgBoss from 'pg-boss';
import type { JobHandler, JobQueue, JobQueueName } from '../core/job_ports.ts';
import { type JsonObject, toJsonObject } from '../core/json.ts';
import type { Database, Drizzle } from './database.ts';
import { createBoss, fetchJobs } from './job_boss.ts';

/** How often a queue is looked at when nothing says that there is something in it, unless said otherwise. */
const POLL_MS = 2000;
/** Jobs taken from the database at once. */
const BATCH_MAX = 20;
/** How long jobs in work have to end by themselves when the process stops. */
const GRACE_MS = 2000;

export interface JobQueueOptions {
  /** What goes wrong with the queue itself; jobs are tried again whatever it is. */
  onTrouble: (error: unknown) => void;
  pollMs?: number | undefined;
}

/** Takes jobs of one queue as there is room for them, and works on each by itself: one that hangs holds up no other. */
class Worker {
  readonly #boss: PgBoss;
  readonly #db: Drizzle;
  readonly #queue: JobQueueName;
  readonly #concurrency: number;
  readonly #handler: JobHandler;
  readonly #options: JobQueueOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #loop: Promise<void>;
  #isClosing = false;
  #isWoken = false;
  #isFull = false;
  #isInTrouble = false;
  #wake: () => void = () => undefined;

  constructor(
    { boss, db }: { boss: PgBoss; db: Drizzle },
    queue: JobQueueName,
    concurrency: number,
    handler: JobHandler,
    options: JobQueueOptions,
  ) {
    this.#boss = boss;
    this.#db = db;
    this.#queue = queue;
    this.#concurrency = concurrency;
    this.#handler = handler;
    this.#options = options;
    // Each job listens, and takes its listener away again: many are no leak to warn of.
    setMaxListeners(0, this.#stopping.signal);
    this.#loop = this.#takeJobs();
  }

  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.wake();
    await this.#loop;
    const grace = setTimeout(() => this.#stopping.abort(), GRACE_MS);
    await Promise.all(this.#running);
    clearTimeout(grace);
  }

  async #takeJobs(): Promise<void> {
    while (!this.#isClosing) {
      this.#isWoken = false;
      const room = Math.min(this.#concurrency - this.#running.size, BATCH_MAX);
      this.#isFull = room === 0;
      const jobs = this.#isFull ? [] : await this.#fetch(room);
      for (const job of jobs) this.#start(job);
      // Fewer than there was room for: the queue is empty for now.
      if (this.#isFull || jobs.length < room) await this.#pause();
    }
  }

  async #fetch(batchSize: number): Promise<PgBoss.Job<unknown>[]> {
    try {
      const jobs = await fetchJobs(this.#boss, this.#db, this.#queue, batchSize);
      this.#isInTrouble = false;
      return jobs;
    } catch (error) {
      // Once, until it goes well again.
      if (!this.#isInTrouble) this.#options.onTrouble(error);
      this.#isInTrouble = true;
      return [];
    }
  }

  #start(job: PgBoss.Job<unknown>): void {
    const work = this.#work(job.id, toJsonObject(job.data as JsonObject)).finally(() => {
      this.#running.delete(work);
      if (this.#isFull) this.wake();
    });
    this.#running.add(work);
  }

  async #work(id: string, data: JsonObject): Promise<void> {
    try {
      await this.#handler(data, this.#stopping.signal);
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#options.onTrouble(error);
      // Where this fails as well, the job is another's when its time is up.
      await this.#boss.fail(this.#queue, id).catch(this.#options.onTrouble);
      return;
    }
    await this.#boss.complete(this.#queue, id).catch(this.#options.onTrouble);
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#wake = () => undefined;
        resolve();
      };
      const timer = setTimeout(finish, this.#options.pollMs ?? POLL_MS);
      this.#wake = finish;
      if (this.#isWoken) finish();
    });
  }
}

/**
 * The queue of jobs in the database, which pg-boss keeps; see the port. It does not notify: `pg_notify` within the
 * writing transaction takes a lock on the whole database. Jobs of a process that died are given to another a minute
 * and a half later at the most.
 */
export async function createJobQueue({ db }: Database, options: JobQueueOptions): Promise<JobQueue> {
  const boss = createBoss(db, { migrate: false });
  boss.on('error', options.onTrouble);
  await boss.start();
  // What a process left that died long ago need not wait for the next upkeep.
  const caughtUp = boss.expire().catch(options.onTrouble);
  const workers = new Map<JobQueueName, Worker>();
  return {
    work: (queue, { concurrency }, handler) => {
      if (workers.has(queue)) throw new TypeError(`\`${queue}\` is worked on already`);
      workers.set(queue, new Worker({ boss, db }, queue, concurrency, handler, options));
    },
    wake: (queue) => workers.get(queue)?.wake(),
    close: async () => {
      await Promise.all([...workers.values()].map((worker) => worker.close()));
      await caughtUp;
      await boss.stop({ graceful: false });
    },
  };
}
