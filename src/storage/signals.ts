import type postgres from 'postgres';
import type { Signals } from '../core/ports.ts';
import { connect, type Database } from './database.ts';
import { createWaiterTable } from './waiters.ts';

const CHANNEL = 'aegis';
const HEARTBEAT_INTERVAL_MS = 500;
/** A heartbeat unheard for this long means that changes may go unheard as well. */
const HEARTBEAT_PATIENCE_MS = 1000;
/** A listener silent for this long is replaced: its connection may hang without being closed. */
const LISTENER_PATIENCE_MS = 5000;
const RETRY_MS = 200;
/** A notification unanswered for this long is sent again, by another connection: the first one's may hang. */
const SEND_PATIENCE_MS = 1000;
/** Bytes of one notification; PostgreSQL takes fewer than 8,000. Subjects are ASCII. */
const PAYLOAD_MAX = 7_900;
const HEARTBEAT_PREFIX = 'heartbeat:';

export interface SignalPublisher {
  /** Tells all processes that these subjects may have changed; call it after the commit. */
  publish(subjects: readonly string[]): void;
}

export interface SignalHub extends Signals, SignalPublisher {
  /** True while this process hears what is published. */
  isListening(): boolean;
  close(): Promise<void>;
}

/** As many subjects as go into one notification. */
function takeSubjects(waiting: Set<string>): string[] {
  const taken: string[] = [];
  let length = 0;
  for (const subject of waiting) {
    length += subject.length + 1;
    if (length > PAYLOAD_MAX) break;
    taken.push(subject);
    waiting.delete(subject);
  }
  return taken;
}

/** Rejects when there was no answer in time. One that comes later is dropped: to be notified twice does no harm. */
async function withinPatience(sending: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), SEND_PATIENCE_MS);
  });
  try {
    await Promise.race([sending, expiry]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Sends notifications after the commit, together: NOTIFY inside the writing transaction takes a lock on the whole
 * database. What cannot be sent now is sent when the database is back.
 */
function createPublisher(database: Database): SignalPublisher & { close(): void } {
  const waiting = new Set<string>();
  let busy = false;
  let closed = false;
  const flush = async (): Promise<void> => {
    while (waiting.size > 0 && !closed) {
      const subjects = takeSubjects(waiting);
      try {
        await withinPatience(database.sql`select pg_notify(${CHANNEL}, ${subjects.join(',')})`);
      } catch {
        for (const subject of subjects) waiting.add(subject);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    busy = false;
  };
  return {
    publish: (subjects) => {
      for (const subject of subjects) waiting.add(subject);
      if (busy || waiting.size === 0) return;
      busy = true;
      setImmediate(() => void flush());
    },
    close: () => {
      closed = true;
    },
  };
}

/**
 * Hears of changes on one channel and one connection of its own, which reconnects by itself; at every (re)connect
 * all waiters read again, since what was sent meanwhile is lost. It proves that it hears by a heartbeat that goes
 * all the way through the database.
 */
export function createSignalHub(database: Database, listenUrl: string): SignalHub {
  const publisher = createPublisher(database);
  const heartbeat = `${HEARTBEAT_PREFIX}${crypto.randomUUID()}`;
  let unheardSince: number | null = Date.now();
  let connection = listen();
  const isListening = (): boolean =>
    unheardSince === null || Date.now() - unheardSince < HEARTBEAT_PATIENCE_MS;
  const waiters = createWaiterTable(isListening);

  function onPayload(payload: string): void {
    if (payload === heartbeat) unheardSince = null;
    else if (!payload.startsWith(HEARTBEAT_PREFIX)) payload.split(',').forEach(waiters.wake);
  }

  function listen(): postgres.Sql {
    const sql = connect(listenUrl, 'aegis listener', { max: 1 });
    sql.listen(CHANNEL, onPayload, () => waiters.wakeAll()).catch(() => undefined);
    return sql;
  }

  const timer = setInterval(() => {
    if (unheardSince !== null && Date.now() - unheardSince > LISTENER_PATIENCE_MS) {
      void connection.end({ timeout: 0 });
      connection = listen();
      unheardSince = Date.now() - HEARTBEAT_PATIENCE_MS;
    }
    unheardSince ??= Date.now();
    publisher.publish([heartbeat]);
  }, HEARTBEAT_INTERVAL_MS);
  timer.unref();

  return {
    publish: publisher.publish,
    subscribe: waiters.subscribe,
    isListening,
    close: async () => {
      clearInterval(timer);
      publisher.close();
      waiters.wakeAll();
      await connection.end({ timeout: 1 });
    },
  };
}
