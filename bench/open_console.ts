import { EventReader } from './event_reader.ts';
import { HttpClient } from './http_client.ts';

// How `src/console/assets/live.js` asks for what has changed, in milliseconds.
const GATHER_MS = 150;
const SPREAD_MS = 450;
const REST_FIRST_MS = 500;
const REST_MAX_MS = 4000;
const PAUSE_MS = 1000;

/** Signs in to the console with an approver's key, as its form does; the `Cookie` header of the session. */
export async function signInToConsole(url: string, key: string): Promise<string> {
  const form = await fetch(`${url}/console/sign-in`);
  const csrf = /name="csrf" value="([0-9a-f]{64})"/.exec(await form.text())?.[1];
  if (csrf === undefined) throw new Error(`the sign-in answered ${form.status}`);
  const toCookie = (answer: Response): string =>
    answer.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';', 1)[0])
      .join('; ');
  const signedIn = await fetch(`${url}/console/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: toCookie(form), origin: url },
    body: new URLSearchParams({ csrf, key }),
  });
  if (signedIn.status !== 303) throw new Error(`signing in answered ${signedIn.status}`);
  return `cookie: ${toCookie(signedIn)}`;
}

/** A console that is left open on the queue: it hears of events, and asks for the rows that they concern. */
export class OpenConsole {
  readonly #client: HttpClient;
  readonly #head: string;
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isBusy = false;
  #isClosed = false;
  #lastMs = Number.NEGATIVE_INFINITY;
  #restMs = 0;
  #events: EventReader | undefined;
  /** Fragments that were had, and those that the service had no time for. */
  fragments = 0;
  refused = 0;

  private constructor(client: HttpClient, head: string) {
    this.#client = client;
    this.#head = head;
  }

  /** `credential` is the `Cookie` header of its session. */
  static async open(url: string, credential: string): Promise<OpenConsole> {
    const head = `host: ${new URL(url).host}\r\n${credential}`;
    const opened = new OpenConsole(await HttpClient.open(url), head);
    opened.#events = await EventReader.open(url, { path: '/console/events', credential }, (text) =>
      opened.#hear(text),
    );
    return opened;
  }

  get heardAt(): readonly number[] {
    return this.#events?.heardAt ?? [];
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#events?.close();
    this.#client.close();
  }

  #hear(text: string): void {
    for (const [id] of text.matchAll(/apr_[0-9a-f-]{36}/g)) this.#changed.add(id);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isClosed || this.#timer !== undefined || this.#isBusy || this.#changed.size === 0) return;
    const rested = this.#restMs === 0 ? 0 : this.#lastMs + this.#restMs - performance.now();
    this.#timer = setTimeout(() => void this.#ask(), Math.max(GATHER_MS, rested) + Math.random() * SPREAD_MS);
  }

  async #ask(): Promise<void> {
    this.#timer = undefined;
    this.#isBusy = true;
    const isPaused = performance.now() - this.#lastMs > this.#restMs + PAUSE_MS;
    this.#restMs = isPaused ? 0 : Math.min(Math.max(2 * this.#restMs, REST_FIRST_MS), REST_MAX_MS);
    const path = `/console?fragment=1&rows=${[...this.#changed].join('%2C')}`;
    this.#changed.clear();
    try {
      const { status } = await this.#client.send(
        Buffer.from(`GET ${path} HTTP/1.1\r\n${this.#head}\r\naccept: text/html\r\n\r\n`),
      );
      if (status === 200) this.fragments += 1;
      else this.refused += 1;
    } catch (error) {
      if (!this.#isClosed) throw error;
    } finally {
      this.#lastMs = performance.now();
      this.#isBusy = false;
    }
    this.#schedule();
  }
}
