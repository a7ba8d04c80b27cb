import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** What of its process a command uses beside its terminal, so that a test can stand in for a person. */
export interface Surroundings {
  env: NodeJS.ProcessEnv;
  /** Columns of the terminal that shows the output; undefined where no terminal does. */
  columns: number | undefined;
  /** Asks a person and gives the answer, undefined for none; undefined itself where no person is at a terminal. */
  ask: ((question: string) => Promise<string | undefined>) | undefined;
  /** Waits, and ends early when aborted. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Aborts when a person interrupts; call `release` at the end. */
  watchInterrupt(): { signal: AbortSignal; release(): void };
}

/** The process's own. */
export const SURROUNDINGS: Surroundings = {
  get env() {
    return process.env;
  },
  get columns() {
    return process.stdout.isTTY ? process.stdout.columns : undefined;
  },
  get ask() {
    return process.stdin.isTTY && process.stderr.isTTY ? ask : undefined;
  },
  wait: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }).catch(() => undefined),
  watchInterrupt: () => {
    const controller = new AbortController();
    const interrupt = (): void => controller.abort();
    process.once('SIGINT', interrupt);
    return { signal: controller.signal, release: () => void process.off('SIGINT', interrupt) };
  },
};

/** The end of input and an interrupt are no answer. */
function ask(question: string): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    lines.once('SIGINT', () => lines.close());
    let answer: string | undefined;
    lines.once('close', () => {
      // The cursor still stands behind the question.
      if (answer === undefined) process.stderr.write('\n');
      resolve(answer);
    });
    lines.question(question, (line) => {
      answer = line;
      lines.close();
    });
  });
}
