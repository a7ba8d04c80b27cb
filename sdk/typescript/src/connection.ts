import type { JsonValue } from '../../../src/core/json.ts';
import { JSON_LEVELS_MAX, parseStrictJson } from '../../../src/core/strict_json.ts';
import {
  assertBound,
  parseRetryAfter,
  pause,
  pauseBeforeMs,
  type RetryOptions,
  readRetry,
} from './backoff.ts';
import { AegisError } from './errors.ts';
import { problemError } from './problem_error.ts';
import { safeCause } from './safe_cause.ts';
import { openTimedSignal } from './timed_signal.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ConnectionOptions {
  /** Where the service is, for instance `https://aegis.example.com`; a path is kept as a prefix. */
  baseUrl: string;
  /** The bearer token. */
  key: string;
  /** In place of the runtime's own, for instance behind a proxy. It is handed the key with each request. */
  fetch?: Fetch | undefined;
  /** How long one attempt may take, in milliseconds; a long poll may take its wait on top. Default 10,000. */
  timeoutMs?: number | undefined;
  retry?: Partial<RetryOptions> | undefined;
}

export interface ApiRequest {
  /** What is done, for messages. */
  what: string;
  method: 'GET' | 'POST' | 'DELETE';
  /** Path and query. */
  path: string;
  /** JSON text, or bytes that are sent as they are. */
  body?: string | Uint8Array<ArrayBuffer> | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  /** Whether doing it twice has the effect of doing it once; only then is it ever sent again. */
  repeatable: boolean;
  signal?: AbortSignal | undefined;
  /** How long the service may hold the answer back by itself, in milliseconds. */
  holdMs?: number | undefined;
}

export interface ApiAnswer {
  body: JsonValue | undefined;
  /** Attempts before this answer that may have reached the service. */
  answersLost: number;
}

/** An answer that is not JSON. */
export interface BytesAnswer {
  bytes: Uint8Array;
  headers: Headers;
}

export interface ApiRefusal {
  error: AegisError;
  answersLost: number;
}

interface Failure {
  error: AegisError;
  /** Whether the service may have done what was asked all the same. */
  lost: boolean;
  /** Whether another attempt may end otherwise. */
  again: boolean;
}

/** What a token is written with: RFC 6750 §2.1. */
const TOKEN = /^[A-Za-z0-9._~+/-]{1,1024}=*$/;

/** An answer wraps what requests hold: a page has 200 approvals, each with its tool call twice, a few levels down. */
const ANSWER_LIMITS = { levelsMax: JSON_LEVELS_MAX + 16, membersMax: 1_000_000 };

/** Statuses after which the same request may succeed, of the service or of a proxy before it. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Sends requests and reads answers as strict JSON; the only place that knows the key. */
export class Connection {
  readonly retry: Readonly<RetryOptions>;
  readonly #baseUrl: string;
  readonly #key: string;
  readonly #fetch: Fetch;
  readonly #timeoutMs: number;

  constructor(options: ConnectionOptions) {
    this.#baseUrl = parseBaseUrl(options.baseUrl);
    if (typeof options.key !== 'string' || !TOKEN.test(options.key)) {
      throw new TypeError('`key` is not a bearer token. Pass the token as it was issued, without `Bearer`');
    }
    this.#key = options.key;
    // Called without a receiver: edge runtimes refuse `fetch` as a method of another object.
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    assertBound('timeoutMs', this.#timeoutMs);
    this.retry = readRetry(options.retry ?? {});
  }

  /**
   * The answer to a request. Throws an `AegisError` for a problem, for no answer in time and for an answer that is
   * not strict JSON, after trying again where that is safe and of use; the signal's reason when it is aborted.
   */
  async send(request: ApiRequest): Promise<ApiAnswer> {
    const end = await this.exchange(request);
    if ('error' in end) {
      throw end.error;
    }
    return end;
  }

  /** As `send`, but a problem is returned, so that the caller sees what came before it. */
  exchange(request: ApiRequest): Promise<ApiAnswer | ApiRefusal> {
    const accept = 'application/json, application/problem+json';
    return this.#repeat(request, accept, ({ bytes }) => readBody(request, bytes));
  }

  /** As `send`, for an endpoint that answers with bytes. */
  async sendForBytes(request: ApiRequest): Promise<BytesAnswer> {
    const accept = 'application/octet-stream, application/problem+json';
    const end = await this.#repeat(request, accept, (answer) => answer);
    if ('error' in end) {
      throw end.error;
    }
    return end;
  }

  async #repeat<Answer extends object>(
    request: ApiRequest,
    accept: string,
    read: (answer: BytesAnswer) => Answer | Failure,
  ): Promise<(Answer & { answersLost: number }) | ApiRefusal> {
    let answersLost = 0;
    for (let attempt = 0; ; attempt += 1) {
      const got = await this.#attempt(request, accept);
      const result = 'error' in got ? got : read(got);
      if (!('error' in result)) {
        return { ...result, answersLost };
      }
      const pauseMs = pauseBeforeMs(this.retry, attempt, result.error.retryAfterSeconds);
      const again = request.repeatable && result.again && attempt < this.retry.max;
      if (!again || pauseMs === undefined) {
        return { error: result.error, answersLost };
      }
      answersLost += result.lost ? 1 : 0;
      await pause(pauseMs, request.signal);
    }
  }

  async #attempt(request: ApiRequest, accept: string): Promise<BytesAnswer | Failure> {
    const timed = openTimedSignal(this.#timeoutMs + (request.holdMs ?? 0), request.signal);
    try {
      const response = await this.#fetch(this.#baseUrl + request.path, {
        method: request.method,
        headers: {
          ...request.headers,
          authorization: `Bearer ${this.#key}`,
          accept,
          ...(request.body === undefined ? {} : { 'content-type': contentTypeOf(request.body) }),
        },
        body: request.body ?? null,
        // Never followed: a redirect would take the key and the action elsewhere.
        redirect: 'manual',
        signal: timed.signal,
      });
      const bytes = new Uint8Array(await response.arrayBuffer());
      return response.ok ? { bytes, headers: response.headers } : this.#readProblem(request, response, bytes);
    } catch (thrown) {
      request.signal?.throwIfAborted();
      const message = timed.isTimedOut()
        ? `${request.what}: no answer in time`
        : `${request.what}: the service could not be reached`;
      const cause = safeCause(thrown, this.#key);
      return { error: new AegisError('unavailable', message, { cause }), lost: true, again: true };
    } finally {
      timed.close();
    }
  }

  #readProblem(request: ApiRequest, response: Response, bytes: Uint8Array): Failure {
    const retryAfterSeconds = parseRetryAfter(response.headers.get('retry-after'), Date.now());
    const error = problemError(request.what, response.status, readJson(bytes), retryAfterSeconds);
    const inFlight = error.problem?.code === 'idempotency_in_flight';
    return {
      error,
      lost: response.status >= 500 || response.status === 0 || inFlight,
      again: PASSING_STATUSES.has(response.status) || inFlight,
    };
  }
}

function contentTypeOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? 'application/json' : 'application/octet-stream';
}

function readBody(request: ApiRequest, bytes: Uint8Array): { body: JsonValue | undefined } | Failure {
  try {
    return { body: bytes.length === 0 ? undefined : parseStrictJson(bytes, ANSWER_LIMITS) };
  } catch (cause) {
    const message = `${request.what}: the answer is not strict json`;
    return { error: new AegisError('unavailable', message, { cause }), lost: true, again: true };
  }
}

/** The body of a refusal: it only describes an error, so one that cannot be read is none. */
function readJson(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseStrictJson(bytes);
  } catch {
    return undefined;
  }
}

function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError('`baseUrl` is not an http or https url');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError('`baseUrl` has credentials, a query or a fragment. Pass the token as `key`');
  }
  return (url.origin + url.pathname).replace(/\/+$/, '');
}
