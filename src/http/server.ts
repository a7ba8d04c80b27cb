import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server';
import { Fault } from '../core/fault.ts';
import { OperatorError } from '../core/operator_error.ts';
import { Connections } from './connections.ts';
import type { Log } from './log.ts';
import { problemResponse } from './problem.ts';
import { sendProblem } from './raw_problem.ts';
import { newRequestId } from './request_id.ts';
import { findRefusal } from './request_refusal.ts';
import { listenForUpgrades, type Upgrades } from './upgrades.ts';

const HEADER_BYTES_MAX = 16 * 1024;

export interface ServerTimeouts {
  /** From the connection's start, or the end of the request before, to the end of a request's header. */
  headersMs: number;
  /** The same to the end of its body. */
  requestMs: number;
  /** How long an idle connection is kept; longer than the usual minute of a load balancer before it. */
  keepAliveMs: number;
  /** How often the first two are looked at. */
  checkEveryMs: number;
  /** How long a connection that is being closed is still read, so that its client gets the answer. */
  lingerMs: number;
  /** How long `close` waits for requests in progress. */
  drainMs: number;
}

const TIMEOUTS: ServerTimeouts = {
  headersMs: 15_000,
  requestMs: 60_000,
  keepAliveMs: 65_000,
  checkEveryMs: 2_000,
  lingerMs: 500,
  drainMs: 5_000,
};

export interface ServeOptions {
  /** The app. What it throws, or an answer that is none, becomes `internal_error` and is logged. */
  fetch: (request: Request, bindings: HttpBindings) => Response | Promise<Response>;
  hostname: string;
  /** 0 lets the system choose. */
  port: number;
  log: Log;
  /** What takes over connections that ask for another protocol; without it all are served as though they had not. */
  upgrades?: Upgrades;
  timeouts?: Partial<ServerTimeouts>;
}

export interface RunningServer {
  /** Where a client on this machine reaches it, without a trailing slash. */
  url: string;
  /** Stops accepting, ends idle connections, lets requests in progress end for `drainMs`, then cuts what is left. */
  close(): Promise<void>;
}

/**
 * Serves an app over HTTP/1.1. Whatever it refuses before the app sees it is a problem as well: malformed HTTP, too
 * large a header, a repeated single-valued header, a missing `Host`, an expectation it does not know. Rejects with an
 * `OperatorError` when it cannot listen.
 */
export async function serveApp(options: ServeOptions): Promise<RunningServer> {
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const connections = new Connections(timeouts.lingerMs);
  const server = createHardenedServer(timeouts, connections, requestListener(options));
  if (options.upgrades !== undefined) listenForUpgrades(server, connections, options.upgrades, options.log);
  await listen(server, options);
  server.on('error', (error) => options.log.error({ err: error }, 'listening socket failed'));
  return {
    url: urlOf(server.address() as AddressInfo),
    close: () => close(server, connections, timeouts.drainMs),
  };
}

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

function createHardenedServer(timeouts: ServerTimeouts, connections: Connections, app: Listener): Server {
  const server = createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    insecureHTTPParser: false,
    // node would answer these two with an empty body; `findRefusal` and the parser's own error are problems.
    requireHostHeader: false,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: timeouts.checkEveryMs,
  });
  // The size bounds their number already; node would drop those over its own limit without a word.
  server.maxHeadersCount = 0;
  server.on('connection', (socket) => connections.add(socket));
  server.on('request', (incoming, outgoing) => {
    connections.begin({ incoming, outgoing });
    const refusal = findRefusal(incoming);
    if (refusal !== undefined) {
      sendProblem(outgoing, refusal);
      return;
    }
    app(incoming, outgoing);
  });
  server.on('checkExpectation', (incoming, outgoing) => {
    connections.begin({ incoming, outgoing });
    sendProblem(
      outgoing,
      new Fault('bad_request', 'the `expect` header asks for something unknown. Leave it out'),
    );
  });
  server.on('connect', (_incoming, socket) => {
    connections.refuse(socket as Socket, new Fault('bad_request', 'this is no proxy. Do not send `CONNECT`'));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    connections.refuse(socket as Socket, faultOfClientError(error));
  });
  return server;
}

function faultOfClientError(error: NodeJS.ErrnoException): Fault {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Fault(
        'header_too_large',
        `request line and headers have more than ${HEADER_BYTES_MAX} bytes together. Send fewer`,
      );
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Fault('bad_request', 'the request did not arrive in time. Send it whole and at once');
    default:
      return new Fault('bad_request', 'the request is malformed. Send well-formed http/1.1 (RFC 9112)');
  }
}

function requestListener({ fetch, log }: ServeOptions): Listener {
  const failed = (error: unknown): Response => {
    const requestId = newRequestId();
    log.error({ err: error, request_id: requestId }, 'request failed outside of the app');
    return problemResponse(error, { requestId });
  };
  const answer = async (request: Request, bindings: HttpBindings): Promise<Response> => {
    try {
      const response: unknown = await fetch(request, bindings);
      return response instanceof Response ? response : failed(new TypeError('the app gave no response'));
    } catch (error) {
      return failed(error);
    }
  };
  return getRequestListener((request, bindings) => answer(request, bindings as HttpBindings), {
    // The name an HTTP/1.0 request without `Host` is taken to mean.
    hostname: 'localhost',
    errorHandler: (error) => (error instanceof RequestError ? malformedTarget() : failed(error)),
  });
}

function malformedTarget(): Response {
  const detail = 'request target or `host` is malformed. Send an absolute path and a valid host';
  const response = problemResponse(new Fault('bad_request', detail), { requestId: newRequestId() });
  response.headers.set('connection', 'close');
  return response;
}

function listen(server: Server, { hostname, port }: ServeOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException) => {
      const message = `cannot listen on ${hostname} port ${port} (${cause.code}). Set PORT or HOST to another`;
      reject(new OperatorError(message, cause));
    };
    server.once('error', fail);
    server.listen(port, hostname, () => {
      server.off('error', fail);
      resolve();
    });
  });
}

function urlOf({ address, port }: AddressInfo): string {
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[address] ?? address;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

async function close(server: Server, connections: Connections, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  connections.beginClosing();
  const timer = setTimeout(() => connections.destroyAll(), drainMs);
  await closed;
  clearTimeout(timer);
}
