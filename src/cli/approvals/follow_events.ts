import { CommandFailed } from '../command.ts';
import type { Client } from './client.ts';
import { readEventStream, type StreamMessage } from './event_stream.ts';

/** The service sends something at least every 15 s: after this long without, the connection is dead. */
const SILENCE_MAX_MS = 45_000;
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 30_000;
/** A connection that lasted so long was a good one. */
const GOOD_MS = 10_000;

export type StreamEvent = Extract<StreamMessage, { kind: 'event' }>;

export interface Following {
  signal: AbortSignal;
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Called on a connection that begins where nothing is known of what was before, before its events are told. */
  onNew(): Promise<void>;
  onEvent(event: StreamEvent): void;
  /** Called when the connection was lost, with when the next is tried. */
  onLost(why: string, milliseconds: number): void;
}

/**
 * Follows the service's events until `signal` aborts; over lost connections too, from the last event on, so that none
 * is left out or told twice.
 * @throws CommandFailed when the first connection cannot be had, and when a later one is refused for good.
 */
export async function followEvents(client: Client, following: Following): Promise<void> {
  const { signal, wait, onLost } = following;
  const place: Place = { lastEventId: undefined, retryMs: RETRY_MS, failures: 0 };
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const openedAt = performance.now();
    const why = await followOnce(client, following, place).catch((error: unknown) => {
      if (signal.aborted) return '';
      if (!(error instanceof CommandFailed) || isFirst || error.exitCode !== 3) throw error;
      return error.message;
    });
    if (signal.aborted) return;
    if (performance.now() - openedAt >= GOOD_MS) place.failures = 0;
    const delay = Math.min(place.retryMs * 2 ** Math.min(place.failures, 10), RETRY_MAX_MS);
    place.failures += 1;
    // Not all clients at once, when the service comes back.
    const milliseconds = Math.round(delay * (0.75 + Math.random() / 4));
    onLost(why, milliseconds);
    await wait(milliseconds, signal);
  }
}

/** Where the stream was left. */
interface Place {
  lastEventId: string | undefined;
  retryMs: number;
  /** Connections in a row that were soon lost and told nothing. */
  failures: number;
}

/** One connection, until it is lost; says why. @throws CommandFailed when it cannot be had. */
async function followOnce(client: Client, { signal, onNew, onEvent }: Following, place: Place) {
  const silence = new AbortController();
  const body = await client.openEvents(place.lastEventId, AbortSignal.any([signal, silence.signal]));
  const chunks = watchSilence(body, silence);
  try {
    if (place.lastEventId === undefined) await onNew();
    for await (const message of readEventStream(chunks)) {
      if (message.kind === 'retry') {
        place.retryMs = Math.min(Math.max(message.milliseconds, 100), RETRY_MAX_MS);
        continue;
      }
      place.lastEventId = message.id;
      if (message.kind === 'position') continue;
      place.failures = 0;
      onEvent(message);
    }
    return 'the service ended it';
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    return silence.signal.aborted ? 'the service has gone silent' : 'the connection broke';
  } finally {
    // Of a stream that was read it is the reader's to do.
    if (!body.locked) await body.cancel().catch(() => undefined);
  }
}

/** The chunks, cut off once none has come for too long. */
async function* watchSilence(
  body: ReadableStream<Uint8Array>,
  silence: AbortController,
): AsyncGenerator<Uint8Array> {
  let timer: NodeJS.Timeout | undefined;
  const reader = body.getReader();
  try {
    for (;;) {
      timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
      const { done, value } = await reader.read();
      clearTimeout(timer);
      if (done) return;
      yield value;
    }
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => undefined);
  }
}
