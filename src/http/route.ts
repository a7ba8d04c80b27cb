import type * as z from 'zod';
import type { Caller, Role } from '../core/caller.ts';
import type { FaultCode } from '../core/fault.ts';
import type { Deps } from '../operations/deps.ts';
import type { AnswerStream } from './answer_stream.ts';

export type Method = 'get' | 'post' | 'put' | 'delete';

/** Request headers that a route reads, beside `Authorization` and those of the body. */
export type RouteHeader = 'if-match' | 'idempotency-key' | 'prefer' | 'last-event-id';

/** What a handler gets: plain values, checked; nothing of the HTTP library. */
export interface RouteInput<Body, Query> {
  deps: Deps;
  caller: Caller;
  /** The path's `:id`; `''` for a path without one. */
  id: string;
  /** All of the path's parameters by name, decoded. */
  params: Readonly<Record<string, string>>;
  query: Query;
  /** The checked body: read before the handler runs and, where attempts are counted, under the counter. */
  body: Body;
  /** The body as the strict reader gave it, before any check. */
  rawBody: unknown;
  header: (name: RouteHeader | 'accept') => string | undefined;
  /**
   * Aborts when the client has gone or the service stops, until the handler, or the stream that it answers with, has
   * ended; made on demand, since most calls end at once.
   */
  signal: () => AbortSignal;
}

/** A body that is no JSON, as it was sent. */
export interface RawBody {
  bytes: Uint8Array;
  /** One of those that the route takes; the first of them where nothing was sent. */
  mediaType: string;
}

export interface RouteAnswer {
  body?: unknown;
  /** Answered in place of a body of JSON. */
  raw?: RawBody;
  /** Answered in place of a body with an end. */
  stream?: AnswerStream;
  headers?: Record<string, string>;
}

/**
 * One endpoint: all that the pipeline, the OpenAPI document and the refusal tests need to know of it.
 * `Body` and `Query` are what the schemas make of what was sent.
 */
export interface Route<Body = unknown, Query = unknown> {
  operationId: string;
  summary: string;
  description?: string;
  method: Method;
  /** As hono writes it, with `:id` or other parameters. */
  path: string;
  /** What the path's parameters are, by name, where it is not one approval's or key's `:id`. */
  params?: Readonly<Record<string, string>>;
  /** Who may call; a caller needs one of them. */
  roles: readonly Role[] | 'any';
  /** How failed attempts on the approval `:id` are counted; absent for other routes. */
  attempts?: 'read first' | 'in statement';
  body?: z.ZodType<Body>;
  /** The media types that a body of any bytes may have. The handler is given it as `RawBody`, in place of JSON. */
  rawBodyTypes?: readonly [string, ...string[]];
  /** Whether the body may be absent: then it is read as `{}`. */
  bodyOptional?: boolean;
  /** How large the body may be, where not 256 KiB. */
  bodyBytesMax?: number;
  query?: z.ZodType<Query>;
  headers?: readonly RouteHeader[];
  success: {
    status: 200 | 201 | 204;
    schema?: z.ZodType;
    /** Whether the answer has the bytes and the media type of `RouteAnswer.raw`: one of `rawBodyTypes`. */
    isRaw?: true;
    /** A media type that the answer may have in place of JSON, by `Accept`; then as `RouteAnswer.raw`. */
    alternative?: string;
    /** The media type of `RouteAnswer.stream`, where the answer is one. */
    stream?: string;
    description: string;
    /** Response headers beside those every answer has. */
    headers?: Record<string, string>;
  };
  /** Codes beside those that follow from roles, body, attempts and query. */
  problems: readonly FaultCode[];
  handle: (input: RouteInput<Body, Query>) => Promise<RouteAnswer>;
}

/** A route of any body and query, for lists of routes. */
// The handler's parameter types differ per route; the pipeline passes each what its own schemas made.
export type AnyRoute = Omit<Route, 'handle' | 'body' | 'query'> & {
  body?: z.ZodType;
  query?: z.ZodType;
  handle: (input: RouteInput<never, never>) => Promise<RouteAnswer>;
};

/** Types a route by its schemas. */
export function defineRoute<Body, Query>(route: Route<Body, Query>): AnyRoute {
  return route;
}
