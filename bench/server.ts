import { Hono } from 'hono';
import { loadConfig } from '../src/cli/config.ts';
import { startService } from '../src/cli/service.ts';
import { ECHO_PATH, type ServerMessage } from './server_process.ts';

/** What authorize is compared with: the same server, read JSON and answer it. */
const echo = new Hono();
echo.post(ECHO_PATH, async (c) => c.json(await c.req.json()));

function send(message: ServerMessage): void {
  process.send?.(message);
}

const report = (fields: object, message: string): void => console.error(message, fields);

// The whole service as `aegis serve` starts it; only the route to compare with stands in front of it.
const service = await startService({
  config: loadConfig(process.env),
  log: { info: () => undefined, warn: report, error: report },
  aroundApp: (app) => (request, bindings) =>
    request.url.endsWith(ECHO_PATH) ? echo.fetch(request, bindings) : app(request, bindings),
});
if (service.firstKeys === undefined) throw new Error('the database was not empty');
send({ kind: 'ready', url: service.url, tokens: service.firstKeys.tokens });

process.on('message', (message) => {
  if (message === 'memory') send({ kind: 'memory', residentBytes: process.memoryUsage.rss() });
});
process.once('disconnect', () => {
  void service.close().then(() => process.exit(0));
});
