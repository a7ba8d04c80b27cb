import { answerStream } from '../http/answer_stream.ts';
import { createEnding } from '../http/ending.ts';
import { parseLastEventId, streamEvents } from '../http/events/event_stream.ts';
import { watchSession } from '../operations/console/watch_session.ts';
import { followEvents } from '../operations/events/follow_events.ts';
import type { ConsoleContext } from './console_options.ts';
import type { Frame } from './frame.ts';
import { findOpenSession, notSignedIn } from './page_handler.ts';

/** `GET /console/events`: what `/v1/events` tells the holder of the session's key, for as long as the session stands. */
export async function getEvents(c: ConsoleContext, frame: Frame): Promise<Response> {
  const session = await findOpenSession(c, frame);
  if (session === undefined) throw notSignedIn();
  const after = parseLastEventId(c.req.header('last-event-id'));
  const over = new AbortController();
  const ending = createEnding(() => [c.req.raw.signal, frame.stopping, over.signal]);
  const release = (): void => {
    over.abort();
    ending.release();
  };
  try {
    const followed = await followEvents(frame.deps, session.caller, { after, signal: ending.signal() });
    watchSession(frame.deps, session.secret, over.signal).then(release, release);
    const stream = streamEvents(followed);
    void stream.ended.then(release);
    return answerStream(c, stream, { 'cache-control': 'no-store' });
  } catch (error) {
    release();
    throw error;
  }
}
