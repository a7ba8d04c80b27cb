import { assertDocumented } from './openapi_check.ts';

export interface ApiAnswer {
  status: number;
  headers: Headers;
  /** The parsed body; undefined when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer's members are what a test asserts
  body: any;
  text: string;
}

export interface CallOptions {
  headers?: Record<string, string>;
  /** Sent as it is, instead of `body` as JSON. */
  rawBody?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
}

/** A body as text; of a stream without an end its beginning. */
async function readText(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text();
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return new TextDecoder().decode(first?.value);
}

/** Calls the service as one credential, and checks each answer against the served OpenAPI document. */
export class ApiClient {
  readonly #url: string;
  readonly #token: string | undefined;

  constructor(url: string, token: string | undefined) {
    this.#url = url;
    this.#token = token;
  }

  async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<ApiAnswer> {
    const payload = options.rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(payload !== undefined && { body: payload }),
      ...(options.signal && { signal: options.signal }),
    });
    const text = await readText(response);
    const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '');
    const answer = {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
      text,
    };
    await assertDocumented(this.#url, method, path, answer);
    return answer;
  }

  get(path: string, options?: CallOptions): Promise<ApiAnswer> {
    return this.call('GET', path, undefined, options);
  }

  post(path: string, body?: unknown, options?: CallOptions): Promise<ApiAnswer> {
    return this.call('POST', path, body, options);
  }

  delete(path: string, options?: CallOptions): Promise<ApiAnswer> {
    return this.call('DELETE', path, undefined, options);
  }
}
