import type { ToldEvent } from '../../operations/events/told_events.ts';

// The stream's form: Server-Sent Events (WHATWG HTML §9.2.6), UTF-8, lines ended by LF.

/** After how long a client that lost the stream comes back, in milliseconds. */
const RETRY_MS = 1000;

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(': still here\n\n');

/** The frames of events that readers share; each is written once, however many it is sent to. */
const frames = new WeakMap<ToldEvent, Uint8Array>();

/** An event; its JSON is one line, since no line break stands in JSON as it is. */
function encodeEvent(event: ToldEvent): Uint8Array {
  const known = frames.get(event);
  if (known !== undefined) return known;
  const frame = encoder.encode(`id: ${event.id}\nevent: ${event.type}\ndata: ${event.json}\n\n`);
  frames.set(event, frame);
  return frame;
}

/**
 * What a stream begins with: something to see at once, when to come back, and the place where it begins, so that a
 * client that is cut off before the first event misses none. Without `data` it is no event.
 */
export function encodeOpening(id: string): Uint8Array {
  return encoder.encode(`: open\nretry: ${RETRY_MS}\nid: ${id}\n\n`);
}

/** Events one after the other; a comment where there are none, so that nobody in between takes the stream for dead. */
export function encodeEvents(events: readonly ToldEvent[]): Uint8Array {
  const [first] = events;
  if (first === undefined) return HEARTBEAT;
  return events.length === 1 ? encodeEvent(first) : Buffer.concat(events.map(encodeEvent));
}
