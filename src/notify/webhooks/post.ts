import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { AddressGuard } from './address_guard.ts';
import { findAddresses, type HostAddress, type ResolveHost } from './find_addresses.ts';

const ATTEMPT_SECONDS = 15;
/** Bytes of an answer's body that are read, so that the receiver can end in peace. They are thrown away. */
const ANSWER_BYTES_MAX = 64 * 1024;
const ERROR_CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

export interface PostOptions {
  guard: AddressGuard;
  resolveHost: ResolveHost;
  /** The whole of an attempt: resolving, connecting, sending, and waiting for the answer. */
  seconds?: number | undefined;
}

export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export type PostOutcome =
  | { kind: 'answered'; status: number; retryAfter: string | undefined }
  | { kind: 'failed'; error: string };

/** Why there was no answer, in words that quote nothing. */
function describe(error: unknown): PostOutcome {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return { kind: 'failed', error: ERROR_CODE.test(code) ? `no answer (${code})` : 'no answer' };
}

/** Leads to the addresses that were looked at, whatever a resolver says by now. */
function leadTo(addresses: [HostAddress, ...HostAddress[]]): LookupFunction {
  return (_hostname, options, answer) => {
    if (options.all === true) answer(null, addresses);
    else answer(null, addresses[0].address, addresses[0].family);
  };
}

function open(url: URL, { headers, body }: Post, lookup: LookupFunction): ClientRequest {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return request(url, {
    method: 'POST',
    // A connection of its own: none that is kept open outlives the look at where its name leads.
    agent: false,
    lookup,
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      'User-Agent': 'Aegis-Webhooks',
      ...headers,
    },
  });
}

/** Sends, and tells once how it ended, of which the first word holds. */
function send(
  url: URL,
  post: Post,
  lookup: LookupFunction,
  tell: (outcome: PostOutcome) => void,
): ClientRequest {
  const request = open(url, post, lookup);
  let outcome: PostOutcome | undefined;
  const finish = (otherwise: PostOutcome): void => {
    tell(outcome ?? otherwise);
    request.destroy();
  };
  request.on('response', (response) => {
    const answered: PostOutcome = {
      kind: 'answered',
      status: response.statusCode ?? 0,
      retryAfter: response.headers['retry-after'],
    };
    outcome = answered;
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) finish(answered);
    });
    for (const end of ['end', 'error', 'close'] as const) response.on(end, () => finish(answered));
  });
  request.on('error', (error) => finish(describe(error)));
  request.on('close', () => finish(NO_ANSWER));
  request.end(post.body);
  return request;
}

const NO_ANSWER: PostOutcome = { kind: 'failed', error: 'no answer' };

async function attempt(
  post: Post,
  { guard, resolveHost }: PostOptions,
  signal: AbortSignal,
): Promise<PostOutcome> {
  const url = new URL(post.url);
  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const found = await Promise.race([findAddresses(url, guard, resolveHost), aborted]);
  if (found === undefined || signal.aborted) return NO_ANSWER;
  if (found.kind === 'unknown') return { kind: 'failed', error: 'the host has no address' };
  if (found.kind === 'refused') {
    return { kind: 'failed', error: 'the host leads to an address that is not public' };
  }
  return new Promise((resolve) => {
    const request = send(url, post, leadTo(found.addresses), resolve);
    signal.addEventListener('abort', () => request.destroy(), { once: true });
  });
}

/**
 * Posts once. Follows no redirect, keeps no connection and nothing of the answer but its status and `Retry-After`.
 * Connects to addresses alone that the guard let pass just now, however a name resolves from one moment to the next.
 * @throws Error when `stopping` aborts: then it is not known whether it was received.
 */
export async function sendPost(
  post: Post,
  options: PostOptions,
  stopping: AbortSignal,
): Promise<PostOutcome> {
  const seconds = options.seconds ?? ATTEMPT_SECONDS;
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = setTimeout(end, seconds * 1000);
  stopping.addEventListener('abort', end);
  try {
    if (stopping.aborted) end();
    const outcome = await attempt(post, options, ending.signal);
    if (outcome.kind === 'answered') return outcome;
    if (stopping.aborted) throw new Error('the process stops');
    return ending.signal.aborted ? { kind: 'failed', error: `no answer within ${seconds} seconds` } : outcome;
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener('abort', end);
  }
}
