import type { Child } from 'hono/jsx';
import type { Caller, Role } from '../core/caller.ts';
import type { Deps } from '../operations/deps.ts';
import type { Section } from './sections.ts';

/** What a page gets: plain values; nothing of the HTTP library. A `post` has passed every check of the frame. */
export interface PageInput {
  deps: Deps;
  caller: Caller;
  /** The path's parameters by name, decoded. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** The form's fields, each once, without `csrf`; empty for a `get`. */
  form: ReadonlyMap<string, string>;
  /** For `<CsrfField token={csrf} />`, which every form has. */
  csrf: string;
}

/** A page of HTML; the frame puts it into the layout. */
export interface HtmlAnswer {
  kind: 'html';
  /** Of the document; the page has an `h1` of its own. */
  title: string;
  body: Child;
  status?: 200 | 400 | 403 | 404 | 409 | 410 | 412 | 422;
  /** Scripts of `src/console/assets`, loaded as modules. */
  scripts?: readonly string[];
}

/** See other (303): the answer to every form that did something. `to` is a path of the console. */
export interface RedirectAnswer {
  kind: 'redirect';
  to: string;
}

/** Something else than a page, such as a fragment for a script. Never stored by caches. */
export interface RawAnswer {
  kind: 'raw';
  mediaType: string;
  content: string;
  status?: number;
}

export type PageAnswer = HtmlAnswer | RedirectAnswer | RawAnswer;

/**
 * One page of the console, for who is signed in. A fault it throws becomes a page with the problem's status, or the
 * problem itself (RFC 9457) for a request whose `Accept` asks for JSON rather than HTML.
 */
export interface ConsolePage {
  /** A `get` changes nothing, but that it may be noted that somebody was shown what it shows. */
  method: 'get' | 'post';
  /** As hono writes it, with `:id` or other parameters; begins with `/console`. */
  path: string;
  /** The file below `src/operations` that the page calls, without `.ts`; null where it only shows the caller. */
  operation: string | null;
  /** Who may open it; a caller needs one of them. The roles are those of the same call of the API. */
  roles: readonly Role[] | 'any';
  /** Set where failed attempts on the approval that `:id` names are counted, as in the API. */
  attempts?: 'read first';
  /** The entry of the navigation that the page belongs to. */
  section: Section | null;
  handle(input: PageInput): Promise<PageAnswer>;
}

/** Types a page where it is written. */
export function definePage(page: ConsolePage): ConsolePage {
  return page;
}
