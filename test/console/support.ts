import { expect } from 'vitest';
import type { TestService } from '../support/test_service.ts';

export interface PageAnswer {
  status: number;
  headers: Headers;
  html: string;
  location: string | null;
  setCookies: string[];
}

export interface SendOptions {
  headers?: Record<string, string>;
  /** Sent instead of the form, as it is. */
  rawBody?: string;
}

interface Cookie {
  value: string;
  path: string;
}

/** What a browser does with the console's cookies and forms, without following redirects. */
export class Browser {
  readonly url: string;
  readonly cookies = new Map<string, Cookie>();

  constructor(url: string) {
    this.url = url;
  }

  /** The `Cookie` header for a path, as RFC 6265 §5.4 has it. */
  cookieHeader(path: string): string {
    return [...this.cookies]
      .filter(([, cookie]) => path === cookie.path || path.startsWith(`${cookie.path}/`))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
  }

  async send(method: string, path: string, body?: string, options: SendOptions = {}): Promise<PageAnswer> {
    const cookie = this.cookieHeader(path.split('?', 1)[0] ?? '');
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(cookie !== '' && { cookie }),
        ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...options.headers,
      },
      ...(body !== undefined && { body }),
    });
    const setCookies = response.headers.getSetCookie();
    for (const text of setCookies) this.#keep(text);
    const { status, headers } = response;
    return { status, headers, html: await response.text(), location: headers.get('location'), setCookies };
  }

  get(path: string, options?: SendOptions): Promise<PageAnswer> {
    return this.send('GET', path, undefined, options);
  }

  /** Posts a form as a page of the console would. */
  post(path: string, form: Record<string, string>, options: SendOptions = {}): Promise<PageAnswer> {
    const origin = { origin: this.url, 'sec-fetch-site': 'same-origin' };
    return this.send('POST', path, options.rawBody ?? new URLSearchParams(form).toString(), {
      headers: { ...origin, ...options.headers },
    });
  }

  /** The CSRF token of the first form of a page. */
  async csrf(path: string): Promise<string> {
    return csrfIn((await this.get(path)).html);
  }

  async trySignIn(key: string, form: Record<string, string> = {}): Promise<PageAnswer> {
    const csrf = await this.csrf('/console/sign-in');
    return this.post('/console/sign-in', { csrf, key, ...form });
  }

  #keep(text: string): void {
    const [pair = '', ...attributes] = text.split('; ');
    const name = pair.slice(0, pair.indexOf('='));
    const path = attributes.find((one) => one.startsWith('Path='))?.slice('Path='.length) ?? '/';
    if (attributes.includes('Max-Age=0')) this.cookies.delete(name);
    else this.cookies.set(name, { value: pair.slice(name.length + 1), path });
  }
}

export function csrfIn(html: string): string {
  const token = /name="csrf" value="([0-9a-f]{64})"/.exec(html)?.[1];
  if (token === undefined) throw new Error(`no form with a token in: ${html.slice(0, 300)}`);
  return token;
}

/** A browser that is signed in with a key. */
export async function signIn(service: Pick<TestService, 'url'>, key: string): Promise<Browser> {
  const browser = new Browser(service.url);
  const answer = await browser.trySignIn(key);
  expect(answer.status, answer.html).toBe(303);
  return browser;
}
