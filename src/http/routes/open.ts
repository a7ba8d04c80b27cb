import type { Context } from 'hono';
import { unauthenticated, unavailable } from '../../core/common_faults.ts';
import { Fault } from '../../core/fault.ts';
import type { Bindings } from '../bindings.ts';
import { docsPage } from '../docs_page.ts';
import { isMetricsAllowed } from '../metrics_access.ts';
import { buildOpenApiDocument } from '../openapi.ts';
import { buildProblem } from '../problem.ts';
import { newRequestId } from '../request_id.ts';
import { RPC_PATH } from '../rpc/handshake.ts';

export interface Readiness {
  /** Each check by name; ready when all are `ok`, else what is wrong. */
  checks: Record<string, string>;
  policyRevision: string;
  /** Why the policy folder as it is now does not decide; null when it does. The service is ready all the same. */
  policyProblem: string | null;
}

export interface OpenRouteOptions {
  readiness: () => Promise<Readiness>;
  /** The metrics in Prometheus' text format. */
  metricsText: () => Promise<string>;
  metricsToken: string | undefined;
}

export type HonoContext = Context<{ Bindings: Bindings }>;

/** An endpoint open without a credential. */
export interface OpenRoute {
  method: 'get' | 'post';
  path: string;
  handle: (c: HonoContext) => Promise<Response> | Response;
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

function livez(c: HonoContext): Response {
  return c.json({ status: 'live' });
}

async function readyz(c: HonoContext, readiness: () => Promise<Readiness>): Promise<Response> {
  const { checks, policyRevision, policyProblem } = await readiness();
  const ready = Object.values(checks).every((check) => check === 'ok');
  const state = { policy_revision: policyRevision, policy_problem: policyProblem, checks };
  if (ready) return c.json({ status: 'ready', ...state });
  const problem = buildProblem(unavailable(undefined), { requestId: newRequestId() });
  const body = JSON.stringify({ ...problem.body, ...state });
  return new Response(body, { status: problem.status, headers: problem.headers });
}

async function metrics(c: HonoContext, options: OpenRouteOptions): Promise<Response> {
  const allowed = isMetricsAllowed({
    peerAddress: c.env?.incoming?.socket.remoteAddress,
    headers: c.req.raw.headers,
    metricsToken: options.metricsToken,
  });
  if (!allowed) throw unauthenticated();
  return c.body(await options.metricsText(), 200, { 'Content-Type': METRICS_TYPE });
}

/** What a request is told that came without asking to upgrade: one that did goes another way. */
function rpc(): never {
  throw new Fault('bad_request', 'this path speaks json-rpc over websocket. Open it with a websocket client');
}

/** What few ask for is made for the first of them, and kept. */
function once(make: () => string): () => string {
  let made: string | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The endpoints that need no credential (wire contract, "Waiting, events, discovery"). */
export function openRoutes(options: OpenRouteOptions): OpenRoute[] {
  const document = once(() => JSON.stringify(buildOpenApiDocument()));
  const page = once(() => docsPage(document()));
  const route = (path: string, handle: OpenRoute['handle']): OpenRoute => ({ method: 'get', path, handle });
  return [
    route('/livez', livez),
    route('/readyz', (c) => readyz(c, options.readiness)),
    route('/metrics', (c) => metrics(c, options)),
    route('/openapi.json', (c) => c.body(document(), 200, { 'Content-Type': 'application/json' })),
    route(RPC_PATH, rpc),
    route('/docs', (c) => c.html(page(), 200, { 'Content-Security-Policy': PAGE_POLICY })),
  ];
}
