import { Worker } from 'node:worker_threads';
import type { CompileJobs } from './compile_jobs.ts';

export type JobName = keyof CompileJobs;
export type JobInput<Name extends JobName> = Parameters<CompileJobs[Name]>[0];
export type JobOutput<Name extends JobName> = Awaited<ReturnType<CompileJobs[Name]>>;

export interface JobMessage {
  name: JobName;
  input: unknown;
}

export type JobAnswer =
  | { kind: 'done'; output: unknown }
  | { kind: 'failed'; message: string; code: string | undefined };

export interface CompileThreadOptions {
  /** The built file of `compile_worker.ts`. */
  workerPath: string;
  /** A job that takes longer is given up, and its thread ended. */
  deadlineMs: number;
  /** A thread without a job for so long is ended, so that its memory is free again. */
  idleMs: number;
}

/** A job took longer than it may. */
export class JobTimeout extends Error {
  constructor() {
    super('the job took longer than it may');
    this.name = 'JobTimeout';
  }
}

/** A job that runs away takes its own thread with it, not the process. */
const HEAP_MB_MAX = 1024;

/** A worker thread that does one job after another, started when there is one and ended when there is none. */
export class CompileThread {
  readonly #options: CompileThreadOptions;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: CompileThreadOptions) {
    this.#options = options;
  }

  /**
   * Has a job done; whoever calls waits for the answer before the next call. Whatever ends the thread ends the job,
   * and the next one gets a new thread.
   * @throws JobTimeout after the deadline; the job's own error, with its `code`; Error when the thread ends.
   */
  async run<Name extends JobName>(name: Name, input: JobInput<Name>): Promise<JobOutput<Name>> {
    const worker = this.#start();
    try {
      const answer = await this.#ask(worker, { name, input });
      if (answer.kind === 'failed') throw Object.assign(new Error(answer.message), { code: answer.code });
      return answer.output as JobOutput<Name>;
    } finally {
      this.#rest();
    }
  }

  /** Ends the thread, and with it the job that it may have. */
  async end(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #start(): Worker {
    clearTimeout(this.#idle);
    this.#worker ??= this.#newWorker();
    // The process stays as long as a job runs, and no longer.
    this.#worker.ref();
    return this.#worker;
  }

  #newWorker(): Worker {
    const worker = new Worker(this.#options.workerPath, {
      name: 'compile',
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    const forget = () => {
      if (this.#worker === worker) this.#worker = undefined;
    };
    worker.once('error', forget);
    worker.once('exit', forget);
    return worker;
  }

  #ask(worker: Worker, message: JobMessage): Promise<JobAnswer> {
    return new Promise((resolve, reject) => {
      const settle = (how: () => void): void => {
        clearTimeout(timer);
        worker
          .off('message', onMessage)
          .off('messageerror', onFailure)
          .off('error', onFailure)
          .off('exit', onExit);
        how();
      };
      const giveUp = (error: Error): void => {
        settle(() => reject(error));
        // What it does now nobody knows; the next job gets another.
        void this.end();
      };
      const timer = setTimeout(() => giveUp(new JobTimeout()), this.#options.deadlineMs);
      const onMessage = (answer: JobAnswer): void => settle(() => resolve(answer));
      const onFailure = (cause: unknown): void => giveUp(new Error('the compile thread failed', { cause }));
      const onExit = (): void => giveUp(new Error('the compile thread ended'));
      worker.on('message', onMessage).on('messageerror', onFailure).on('error', onFailure).on('exit', onExit);
      try {
        worker.postMessage(message);
      } catch (error) {
        onFailure(error);
      }
    });
  }

  /** Lets the process end, and the thread after a while. */
  #rest(): void {
    const worker = this.#worker;
    if (worker === undefined) return;
    worker.unref();
    this.#idle = setTimeout(() => void this.end(), this.#options.idleMs).unref();
  }
}
