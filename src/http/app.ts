import { Hono } from 'hono';
import { notFound } from '../core/common_faults.ts';
import { Fault } from '../core/fault.ts';
import type { Bindings } from './bindings.ts';
import { type SlackCallbackOptions, slackCallbackRoute } from './callbacks/slack_callback.ts';
import type { Log } from './log.ts';
import { logFault } from './log_fault.ts';
import { createHandler, type PipelineOptions } from './pipeline.ts';
import { buildProblem } from './problem.ts';
import { newRequestId } from './request_id.ts';
import type { AnyRoute } from './route.ts';
import { ROUTES } from './routes/index.ts';
import { type OpenRoute, type OpenRouteOptions, openRoutes } from './routes/open.ts';
import { toFault } from './to_fault.ts';

export interface AppOptions extends PipelineOptions, OpenRouteOptions {
  log: Log;
  /** Told of every answer; `route` is the path's pattern, so that ids make no series of their own. */
  onAnswer?: (answer: { route: string; method: string; status: number; seconds: number }) => void;
  /** Where Slack's clicks are taken; without it the path is not served. */
  slack?: SlackCallbackOptions | undefined;
  /** The approver's pages; all their paths begin with `/console`. */
  console?: Hono<{ Bindings: Bindings }>;
}

/** The methods served at each path; HEAD goes with GET (RFC 9110 §9.3.2). */
function methodsByPath(routes: readonly { path: string; method: string }[]): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const { path, method } of routes) {
    const served = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];
    methods.set(path, [...(methods.get(path) ?? []), ...served]);
  }
  return methods;
}

/** The HTTP interface. A path that is not served is 404 before authentication, a wrong method 405. */
export function createApp(options: AppOptions) {
  const app = new Hono<{ Bindings: Bindings }>({ strict: true });
  const { log, onAnswer } = options;
  const slack = options.slack && slackCallbackRoute(options.deps, log, options.slack);
  const open: readonly OpenRoute[] = [...openRoutes(options), ...(slack === undefined ? [] : [slack])];

  const answerFault = (error: unknown, allow?: readonly string[]): Response => {
    const requestId = newRequestId();
    const fault = toFault(error);
    logFault(log, fault, requestId);
    const problem = buildProblem(fault, { requestId, ...(allow && { allow }) });
    return new Response(JSON.stringify(problem.body), { status: problem.status, headers: problem.headers });
  };

  if (onAnswer !== undefined) {
    app.use(async (c, next) => {
      const startedAt = performance.now();
      await next();
      const route = c.req.routePath;
      const seconds = (performance.now() - startedAt) / 1000;
      onAnswer({ route, method: c.req.method, status: c.res.status, seconds });
    });
  }
  const protectedRoutes: readonly AnyRoute[] = ROUTES;
  for (const route of protectedRoutes) app.on(route.method, route.path, createHandler(route, options));
  for (const route of open) app.on(route.method, route.path, route.handle);
  for (const [path, allow] of methodsByPath([...protectedRoutes, ...open])) {
    const detail = `this path serves ${allow.join(', ')}. Use one of them`;
    app.all(path, () => answerFault(new Fault('method_not_allowed', detail), allow));
  }
  if (options.console !== undefined) app.route('/', options.console);
  app.notFound(() => answerFault(notFound()));
  app.onError((error) => answerFault(error));
  return app;
}
