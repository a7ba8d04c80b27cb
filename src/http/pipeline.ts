import type { Context } from 'hono';
import * as z from 'zod';
import type { Caller } from '../core/caller.ts';
import { agentFrozen } from '../core/common_faults.ts';
import { Fault } from '../core/fault.ts';
import { guardAttempts, guardConsumeAttempts } from '../operations/attempts.ts';
import type { Deps } from '../operations/deps.ts';
import { answerStream } from './answer_stream.ts';
import { authenticate } from './authenticate.ts';
import type { Bindings } from './bindings.ts';
import { type Cidr, clientAddress } from './client_address.ts';
import { createEnding } from './ending.ts';
import { BODY_LIMITS, readJsonBody, readRawBody } from './read_body.ts';
import { readQuery } from './read_query.ts';
import type { AnyRoute, RouteAnswer } from './route.ts';

export interface PipelineOptions {
  deps: Deps;
  trustedProxies: readonly Cidr[];
  /** Aborts when the service stops: open waits answer with what they have. */
  stopping: AbortSignal;
}

type HonoContext = Context<{ Bindings: Bindings }>;

function assertRole(caller: Caller, route: AnyRoute): void {
  const { roles } = route;
  if (roles === 'any' || roles.some((role) => caller.roles.includes(role))) return;
  const needed = roles.map((role) => `\`${role}\``).join(' or ');
  throw new Fault('forbidden', `this needs a key with the role ${needed}`);
}

/** The body of a route that takes none: absent, or an object without members. */
const NO_MEMBERS = z.strictObject({});

async function readBody(c: HonoContext, route: AnyRoute): Promise<{ raw: unknown; parsed: unknown }> {
  const limits = {
    ...BODY_LIMITS,
    ...(route.bodyBytesMax !== undefined && { bytesMax: route.bodyBytesMax }),
  };
  const { incoming } = c.env ?? {};
  if (route.rawBodyTypes !== undefined) {
    const sent = await readRawBody(c.req.raw, route.rawBodyTypes, { ...limits, incoming });
    return { raw: sent, parsed: sent };
  }
  const schema = route.body ?? (route.method === 'post' ? NO_MEMBERS : undefined);
  if (schema === undefined) return { raw: undefined, parsed: undefined };
  const required = route.body !== undefined && route.bodyOptional !== true;
  const raw = await readJsonBody(c.req.raw, { ...limits, required, incoming });
  // An absent body reads as `{}`; the json `null` is a body, and of the wrong type.
  return { raw, parsed: schema.parse(raw === undefined ? {} : raw) };
}

/** Reads and checks what was sent, then runs the route's handler. */
async function handle(c: HonoContext, route: AnyRoute, options: PipelineOptions, caller: Caller) {
  const body = await readBody(c, route);
  const query = readQuery(c.req.url, route.query);
  const ending = createEnding(() => [c.req.raw.signal, options.stopping]);
  let stream: RouteAnswer['stream'];
  try {
    const answer = await route.handle({
      deps: options.deps,
      caller,
      id: c.req.param('id') ?? '',
      params: c.req.param(),
      query: query as never,
      body: body.parsed as never,
      rawBody: body.raw,
      header: (name) => c.req.header(name),
      signal: ending.signal,
    });
    stream = answer.stream;
    return answer;
  } finally {
    if (stream === undefined) ending.release();
    else void stream.ended.then(ending.release);
  }
}

/** Runs the handler under the attempt counter of the approval that the path names. */
function handleCounted(
  c: HonoContext,
  route: AnyRoute,
  options: PipelineOptions,
  caller: Caller,
): Promise<RouteAnswer> {
  const run = () => handle(c, route, options, caller);
  if (route.attempts === undefined) return run();
  const guard = route.attempts === 'read first' ? guardAttempts : guardConsumeAttempts;
  return guard(options.deps, caller, c.req.param('id') ?? '', run);
}

function toResponse(c: HonoContext, route: AnyRoute, answer: RouteAnswer): Response {
  const headers = { 'Cache-Control': 'no-store', ...answer.headers };
  if (route.success.status === 204) return c.body(null, 204, headers);
  if (answer.stream !== undefined) return answerStream(c, answer.stream, headers);
  if (answer.raw !== undefined) {
    const { bytes, mediaType } = answer.raw;
    return c.body(Uint8Array.from(bytes), route.success.status, { ...headers, 'Content-Type': mediaType });
  }
  return c.body(JSON.stringify(answer.body), route.success.status, {
    ...headers,
    'Content-Type': 'application/json',
  });
}

/**
 * The order of checks of the wire contract: credential, standing, role, attempts, body; what comes after is the
 * operation's.
 */
export function createHandler(route: AnyRoute, options: PipelineOptions) {
  return async (c: HonoContext): Promise<Response> => {
    const caller = await authenticate(options.deps, c.req.header('authorization'), () =>
      clientAddress(
        c.env?.incoming?.socket.remoteAddress,
        c.req.header('x-forwarded-for'),
        options.trustedProxies,
      ),
    );
    if (caller.frozen) throw agentFrozen();
    assertRole(caller, route);
    return toResponse(c, route, await handleCounted(c, route, options, caller));
  };
}
