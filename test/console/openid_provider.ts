import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export const CLIENT = { clientId: 'aegis', clientSecret: 'a secret of the client'.replaceAll(' ', '-') };

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** An OpenID provider on this machine; what it is asked for is served by `oidc-provider`. */
export interface TestProvider {
  issuer: string;
  /** Registers the client with where it sends people back to. */
  register(redirectUri: string, authMethod?: 'client_secret_basic' | 'client_secret_post'): void;
  /** Answers a path in the provider's place; undefined puts the provider back. */
  replace(path: string, handler: Handler | undefined): void;
  /** Accepts no connection, as though it were down. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
}

export async function startProvider(): Promise<TestProvider> {
  let callback: Handler = (_, response) => response.writeHead(503).end();
  const replaced = new Map<string, Handler>();
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    (replaced.get(path) ?? callback)(request, response);
  });
  await listen(server, 0);
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const stop = () =>
    new Promise<void>((resolve) => {
      if (!server.listening) resolve();
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    issuer,
    register: (redirectUri, authMethod = 'client_secret_basic') => {
      const provider = new Provider(issuer, {
        clients: [
          {
            client_id: CLIENT.clientId,
            client_secret: CLIENT.clientSecret,
            redirect_uris: [redirectUri],
            token_endpoint_auth_method: authMethod,
          },
        ],
        clientAuthMethods: [authMethod],
        cookies: { keys: ['a key for the cookies of a test'] },
        pkce: { required: () => true },
      });
      callback = provider.callback();
    },
    replace: (path, handler) => {
      if (handler === undefined) replaced.delete(path);
      else replaced.set(path, handler);
    },
    stop,
    start: () => listen(server, port),
    close: stop,
  };
}

/** Somebody's browser at the provider, which signs in there as whoever it is asked for. */
class ProviderVisit {
  readonly #issuer: string;
  readonly #cookies = new Map<string, string>();

  constructor(issuer: string) {
    this.#issuer = issuer;
  }

  /** Follows redirects at the provider; its page, or where it sends the browser. */
  async open(url: string, form?: Record<string, string>): Promise<{ html: string } | { left: URL }> {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const text of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (text.split(';', 1)[0] ?? '').split(/=(.*)/s);
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) return { html: await response.text() };
    const next = new URL(location, url);
    return next.origin === this.#issuer ? this.open(next.href) : { left: next };
  }
}

function formIn(html: string): string {
  const action = /<form[^>]* action="([^"]+)"/.exec(html)?.[1];
  if (action === undefined) throw new Error(`the provider shows no form: ${html.slice(0, 500)}`);
  return action;
}

/**
 * Signs in at the provider as `login` and consents, or refuses to; the address that the provider sends the browser
 * back to.
 */
export async function visitProvider(issuer: string, url: string, login: string | null): Promise<URL> {
  const visit = new ProviderVisit(issuer);
  let at = await visit.open(url);
  for (const form of [{ prompt: 'login', login: login ?? '', password: 'any' }, { prompt: 'consent' }]) {
    if ('left' in at) return at.left;
    const action = new URL(formIn(at.html), issuer).href;
    at = login === null ? await visit.open(`${action}/abort`) : await visit.open(action, form);
  }
  if ('left' in at) return at.left;
  throw new Error(`the provider sends nobody back: ${at.html.slice(0, 500)}`);
}
