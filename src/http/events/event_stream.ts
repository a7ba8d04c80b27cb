import { type EventPosition, formatEventId, parseEventId } from '../../core/event_ports.ts';
import { Fault } from '../../core/fault.ts';
import type { FollowedEvents } from '../../operations/events/follow_events.ts';
import type { AnswerStream } from '../answer_stream.ts';
import { encodeEvents, encodeOpening } from './event_frame.ts';

export const EVENT_STREAM_TYPE = 'text/event-stream';

export interface EventStreamTimes {
  /** How long nothing is sent before a comment is. */
  heartbeatMs: number;
  /** How long a client may take nothing while something is there for it; after that it is cut off, and may resume. */
  stalledMs: number;
}

const TIMES: EventStreamTimes = { heartbeatMs: 15_000, stalledMs: 60_000 };
/** How long a stream that is over waits for what it has sent last to be taken. */
const LAST_MS = 500;

/**
 * The place that a `Last-Event-ID` header names; undefined where it is absent, or empty as that of a client which has
 * not heard of any event. @throws Fault `invalid_request`.
 */
export function parseLastEventId(header: string | undefined): EventPosition | undefined {
  if (header === undefined || header === '') return undefined;
  const position = parseEventId(header);
  if (position !== undefined) return position;
  throw new Fault(
    'invalid_request',
    'the `last-event-id` header is no event’s id. Send the `id` of the last event as it was told, or leave it out to hear what is new',
  );
}

/**
 * What a caller follows as a stream of Server-Sent Events; its bytes are made when they are asked for, never before.
 * It ends with what it follows, and when the client does not read.
 */
export function streamEvents(
  { reader, over, close }: FollowedEvents,
  times: EventStreamTimes = TIMES,
): AnswerStream {
  let isOpen = false;
  let isAsked = false;
  let timer: NodeJS.Timeout | undefined;
  let settle: (ending: 'ended' | 'stalled') => void;
  const ended = new Promise<'ended' | 'stalled'>((resolve) => {
    settle = resolve;
  });
  const end = (ending: 'ended' | 'stalled'): void => {
    clearTimeout(timer);
    settle(ending);
    close();
  };
  const awaitAsking = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(end, ms, 'stalled');
  };
  over.addEventListener('abort', () => {
    if (!isAsked) awaitAsking(LAST_MS);
  });
  const next = async (): Promise<Uint8Array | undefined> => {
    if (isOpen) {
      const events = await reader.next(times.heartbeatMs);
      return events && encodeEvents(events);
    }
    isOpen = true;
    return encodeOpening(formatEventId(reader.position));
  };
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        isAsked = true;
        clearTimeout(timer);
        const bytes = await next();
        isAsked = false;
        if (bytes === undefined) {
          controller.close();
          end('ended');
        } else {
          controller.enqueue(bytes);
          awaitAsking(over.aborted ? LAST_MS : times.stalledMs);
        }
      },
      cancel: () => end('ended'),
    },
    // Nothing is made in advance: what a client does not take waits where it costs nothing.
    { highWaterMark: 0 },
  );
  return {
    body,
    mediaType: `${EVENT_STREAM_TYPE}; charset=utf-8`,
    // Proxies that gather an answer before they pass it on are told not to.
    headers: { 'X-Accel-Buffering': 'no' },
    ended,
  };
}
