import { Hono } from 'hono';
import { notFound } from '../core/common_faults.ts';
import { Fault } from '../core/fault.ts';
import type { Bindings } from '../http/bindings.ts';
import { ASSETS_PATH, createAssets } from './assets.ts';
import { type ConsoleContext, type ConsoleOptions, isHttps } from './console_options.ts';
import { getEvents } from './events_route.ts';
import { answerFault } from './fault_page.tsx';
import type { Frame } from './frame.ts';
import { getOidcCallback, postOidcStart } from './oidc_routes.tsx';
import { createPageHandler, findOpenSession } from './page_handler.ts';
import { CONSOLE_PAGES } from './pages/index.ts';
import { setSecurityHeaders } from './security_headers.ts';
import { getSignIn, postSignIn, postSignOut } from './sign_in_routes.tsx';

/** What the frame serves itself. */
const OWN_ROUTES: readonly {
  method: 'get' | 'post';
  path: string;
  handle: (c: ConsoleContext, frame: Frame) => Promise<Response>;
}[] = [
  { method: 'get', path: '/console/sign-in', handle: getSignIn },
  { method: 'post', path: '/console/sign-in', handle: postSignIn },
  { method: 'post', path: '/console/sign-out', handle: postSignOut },
  { method: 'post', path: '/console/oidc/start', handle: postOidcStart },
  { method: 'get', path: '/console/oidc/callback', handle: getOidcCallback },
  { method: 'get', path: '/console/events', handle: getEvents },
];

type Handler = (c: ConsoleContext) => Promise<Response> | Response;

interface Served {
  method: 'get' | 'post';
  path: string;
  handle: Handler;
}

/** The methods served at each path. */
function methodsByPath(routes: readonly Served[]): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const { path, method } of routes) {
    const served = method === 'get' ? ['GET', 'HEAD'] : ['POST'];
    methods.set(path, [...(methods.get(path) ?? []), ...served]);
  }
  return methods;
}

async function refuse(
  c: ConsoleContext,
  frame: Frame,
  error: unknown,
  allow?: readonly string[],
): Promise<Response> {
  const session = await findOpenSession(c, frame).catch(() => undefined);
  const accept = c.req.header('accept');
  const signedIn = session?.signedIn ?? null;
  return answerFault(error, {
    assets: frame.assets,
    log: frame.log,
    accept,
    signedIn,
    ...(allow && { allow }),
  });
}

function routesOf(frame: Frame): Served[] {
  const asset: Handler = (c) =>
    frame.assets.serve(c.req.param('version') ?? '', c.req.param('name') ?? '') ??
    refuse(c, frame, notFound());
  return [
    { method: 'get', path: ASSETS_PATH, handle: asset },
    ...OWN_ROUTES.map(({ handle, ...at }): Served => ({ ...at, handle: (c) => handle(c, frame) })),
    ...CONSOLE_PAGES.map((page): Served => {
      const { method, path } = page;
      return { method, path, handle: createPageHandler(page, frame) };
    }),
  ];
}

/**
 * The approver's pages under `/console`: an ordinary client of the operations, which reads its cookies there and
 * nowhere else. Every answer has the security headers; what goes wrong is a page.
 */
export function createConsole(options: ConsoleOptions): Hono<{ Bindings: Bindings }> {
  const app = new Hono<{ Bindings: Bindings }>({ strict: true });
  const frame: Frame = { ...options, assets: createAssets(options.files) };
  // Of the way the console itself is reached; it is known by the time of the first request.
  app.use('/console/*', async (c, next) => {
    await next();
    setSecurityHeaders(c.res.headers, isHttps(frame));
  });
  const routes = routesOf(frame);
  for (const { method, path, handle } of routes) app.on(method, path, handle);
  for (const [path, allow] of methodsByPath(routes)) {
    const detail = `this page serves ${allow.join(', ')}. Open it from the console`;
    app.all(path, (c) => refuse(c, frame, new Fault('method_not_allowed', detail), allow));
  }
  app.all('/console/*', (c) => refuse(c, frame, notFound()));
  app.onError((error, c) => refuse(c, frame, error));
  return app;
}
