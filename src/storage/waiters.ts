import type { Subscription } from '../core/ports.ts';

/** How often a wait looks by itself while nobody vouches that changes are heard. */
const READ_INTERVAL_MS = 500;
/** Timers beyond this overflow; nothing here waits longer. */
const TIMER_MAX_MS = 2 ** 31 - 1;

interface Waiter {
  changed: boolean;
  wake: () => void;
}

/** Who waits for which subject in this process. */
export interface WaiterTable {
  subscribe(subjects: readonly string[]): Subscription;
  wake(subject: string): void;
  wakeAll(): void;
}

/** A table of waiters; while `isListening` says no, each wait ends early so that its row is read instead. */
export function createWaiterTable(isListening: () => boolean): WaiterTable {
  const bySubject = new Map<string, Set<Waiter>>();

  const wake = (subject: string): void => {
    for (const waiter of bySubject.get(subject) ?? []) {
      waiter.changed = true;
      waiter.wake();
    }
  };

  const remove = (subject: string, waiter: Waiter): void => {
    const waiting = bySubject.get(subject);
    waiting?.delete(waiter);
    if (waiting?.size === 0) bySubject.delete(subject);
  };

  const subscribe = (subjects: readonly string[]): Subscription => {
    const waiter: Waiter = { changed: false, wake: () => undefined };
    for (const subject of subjects) {
      const waiting = bySubject.get(subject) ?? new Set();
      bySubject.set(subject, waiting.add(waiter));
    }
    return {
      next: (until, signal) => waitOnce(waiter, until, signal, isListening),
      close: () => {
        for (const subject of subjects) remove(subject, waiter);
      },
    };
  };

  return {
    subscribe,
    wake,
    wakeAll: () => {
      for (const subject of [...bySubject.keys()]) wake(subject);
    },
  };
}

function waitOnce(
  waiter: Waiter,
  until: Date,
  signal: AbortSignal,
  isListening: () => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(deadline);
      clearInterval(reading);
      signal.removeEventListener('abort', finish);
      waiter.wake = () => undefined;
      waiter.changed = false;
      resolve();
    };
    const delay = Math.min(Math.max(until.getTime() - Date.now(), 0), TIMER_MAX_MS);
    const deadline = setTimeout(finish, delay);
    const reading = setInterval(() => isListening() || finish(), READ_INTERVAL_MS);
    signal.addEventListener('abort', finish);
    waiter.wake = finish;
    if (waiter.changed || signal.aborted) finish();
  });
}
