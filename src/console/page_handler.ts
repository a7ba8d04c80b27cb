import type { ConsoleSession } from '../core/console_ports.ts';
import { Fault } from '../core/fault.ts';
import { guardAttempts } from '../operations/attempts.ts';
import { findSession } from '../operations/console/find_session.ts';
import { type ConsoleContext, type ConsoleOptions, isHttps } from './console_options.ts';
import { readCookie, SESSION_COOKIE } from './cookies.ts';
import { assertCsrfToken, CSRF_FIELD, computeCsrfToken } from './csrf.ts';
import { answerFault, wantsJson } from './fault_page.tsx';
import type { Frame } from './frame.ts';
import { goOn } from './go_on.tsx';
import type { SignedIn } from './layout.tsx';
import { assertOwnOrigin } from './own_origin.ts';
import type { ConsolePage, PageAnswer } from './page.ts';
import { readForm } from './read_form.ts';
import { renderPage } from './render.tsx';
import { parseReturnTo } from './return_to.ts';

/** The fields that people write into at length. */
const WRITTEN_FIELDS = ['parameters', 'reason'] as const;

/** A session and the secret that only this request's cookie has. */
export interface OpenSession extends ConsoleSession {
  secret: string;
  signedIn: SignedIn;
}

/** The session of a request; undefined when nobody is signed in. */
export async function findOpenSession(
  c: ConsoleContext,
  options: ConsoleOptions,
): Promise<OpenSession | undefined> {
  const secret = readCookie(c.req.header('cookie'), SESSION_COOKIE, isHttps(options));
  const session = secret === undefined ? undefined : await findSession(options.deps, secret);
  if (secret === undefined || session === undefined) return undefined;
  return { ...session, secret, signedIn: { caller: session.caller, csrf: computeCsrfToken(secret) } };
}

/** @throws Fault `forbidden` for what a page of another origin sent. */
export function assertFromConsole(c: ConsoleContext, { publicUrl }: ConsoleOptions): void {
  assertOwnOrigin(publicUrl, {
    host: c.req.header('host'),
    origin: c.req.header('origin'),
    site: c.req.header('sec-fetch-site'),
  });
}

/**
 * On to the sign-in. Who follows a link from another site comes without the session's cookie, which is `Strict`: they
 * get a page that opens the same address again, now from this site.
 */
async function sendToSignIn(c: ConsoleContext, frame: Frame): Promise<Response> {
  const { pathname, search } = new URL(c.req.url);
  const here = parseReturnTo(pathname + search);
  if (c.req.header('sec-fetch-site') === 'cross-site')
    return goOn(frame, 'Opening the console', 'Go on', here);
  return seeOther(`/console/sign-in?return_to=${encodeURIComponent(here)}`);
}

/** See other (303) on a path of the console. @throws TypeError for any other: no form leads elsewhere. */
export function seeOther(path: string): Response {
  if (!/^\/console(?:[/?#]|$)/.test(path)) throw new TypeError('a page leads out of the console');
  return new Response(null, { status: 303, headers: { location: path, 'cache-control': 'no-store' } });
}

/** Nobody is signed in, where sending somebody to the sign-in would not do. */
export function notSignedIn(): Fault {
  return new Fault(
    'unauthenticated',
    'you are not signed in, or your session has ended. Sign in, then do it again',
  );
}

function assertRole({ caller }: OpenSession, { roles }: ConsolePage): void {
  if (roles === 'any' || roles.some((role) => caller.roles.includes(role))) return;
  const needed = roles.map((role) => `\`${role}\``).join(' or ');
  throw new Fault('forbidden', `this needs a key with the role ${needed}. Sign in with such a key`);
}

/** The form of a request, read when it is first needed. */
type LazyForm = () => Promise<ReadonlyMap<string, string>>;

function readOnce(c: ConsoleContext): LazyForm {
  let form: Promise<ReadonlyMap<string, string>> | undefined;
  return () => {
    form ??= readForm(c.req.raw, c.env?.incoming);
    return form;
  };
}

async function readCheckedForm(
  sent: LazyForm,
  { secret }: OpenSession,
): Promise<ReadonlyMap<string, string>> {
  const form = new Map(await sent());
  assertCsrfToken(secret, form.get(CSRF_FIELD));
  form.delete(CSRF_FIELD);
  return form;
}

/** What somebody wrote into a form that was refused as a whole; nothing of it is kept here, so it is given back. */
async function readWritten(sent: LazyForm): Promise<string[]> {
  const form = await sent().catch(() => new Map<string, string>());
  return WRITTEN_FIELDS.map((name) => form.get(name) ?? '').filter((text) => text.trim() !== '');
}

async function toResponse(
  { assets }: Frame,
  page: ConsolePage,
  session: OpenSession,
  answer: PageAnswer,
): Promise<Response> {
  if (answer.kind === 'redirect') return seeOther(answer.to);
  if (answer.kind === 'raw') {
    const headers = { 'content-type': answer.mediaType, 'cache-control': 'no-store' };
    return new Response(answer.content, { status: answer.status ?? 200, headers });
  }
  const { title, body, status = 200, scripts = [] } = answer;
  return renderPage(assets, {
    title,
    body,
    status,
    scripts,
    section: page.section,
    signedIn: session.signedIn,
  });
}

async function answerPage(
  c: ConsoleContext,
  page: ConsolePage,
  frame: Frame,
  session: OpenSession,
  sent: LazyForm,
): Promise<Response> {
  assertRole(session, page);
  const form = page.method === 'post' ? await readCheckedForm(sent, session) : new Map<string, string>();
  const { deps } = frame;
  const { caller } = session;
  const params = c.req.param();
  const run = (): Promise<PageAnswer> =>
    page.handle({
      deps,
      caller,
      params,
      query: new URL(c.req.url).searchParams,
      form,
      csrf: session.signedIn.csrf,
    });
  const counted = page.attempts === undefined ? run() : guardAttempts(deps, caller, params.id ?? '', run);
  return toResponse(frame, page, session, await counted);
}

/**
 * Serves a page to who is signed in; others are sent to the sign-in and back. The order of checks is the API's:
 * session, standing, role, form, attempts; a form's origin is looked at before anything else.
 */
export function createPageHandler(page: ConsolePage, frame: Frame) {
  return async (c: ConsoleContext): Promise<Response> => {
    const sent = readOnce(c);
    let session: OpenSession | undefined;
    let isFromConsole = false;
    try {
      if (page.method === 'post') {
        assertFromConsole(c, frame);
        isFromConsole = true;
      }
      session = await findOpenSession(c, frame);
      if (session !== undefined) return await answerPage(c, page, frame, session, sent);
      if (page.method === 'post' || wantsJson(c.req.header('accept'))) throw notSignedIn();
      return await sendToSignIn(c, frame);
    } catch (error) {
      const signedIn = session?.signedIn ?? null;
      return answerFault(error, {
        assets: frame.assets,
        log: frame.log,
        accept: c.req.header('accept'),
        signedIn,
        written: isFromConsole ? await readWritten(sent) : [],
      });
    }
  };
}
