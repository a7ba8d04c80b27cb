import type { Context } from 'hono';
import type { Bindings } from './bindings.ts';

/** An answer without an end of its own. */
export interface AnswerStream {
  /** Makes bytes when it is read; it holds what it needs until it has ended or is cancelled. */
  body: ReadableStream<Uint8Array>;
  mediaType: string;
  headers: Record<string, string>;
  /** Resolves when it is over; `stalled` when its client has taken nothing for too long. Never rejects. */
  ended: Promise<'ended' | 'stalled'>;
}

/** Answers with a stream. A client that does not read it loses its connection. */
export function answerStream(
  c: Context<{ Bindings: Bindings }>,
  stream: AnswerStream,
  headers: Record<string, string>,
): Response {
  void stream.ended.then((ending) => {
    if (ending === 'stalled') c.env?.incoming?.socket.destroy();
  });
  const all = { ...headers, ...stream.headers, 'Content-Type': stream.mediaType };
  if (c.req.raw.method !== 'HEAD') return c.body(stream.body, 200, all);
  void stream.body.cancel();
  return c.body(null, 200, all);
}
