import type { Fault } from '../core/fault.ts';
import { logFault } from '../http/log_fault.ts';
import { buildProblem } from '../http/problem.ts';
import { newRequestId } from '../http/request_id.ts';
import { toFault } from '../http/to_fault.ts';
import { signIn } from '../operations/console/sign_in.ts';
import { signOut } from '../operations/console/sign_out.ts';
import { addressOf, type ConsoleContext, isHttps } from './console_options.ts';
import { giveCookie, readCookie, SESSION_COOKIE, SIGN_IN_COOKIE, takeCookie } from './cookies.ts';
import { assertCsrfToken, CSRF_FIELD, computeCsrfToken } from './csrf.ts';
import type { Frame } from './frame.ts';
import { assertFromConsole, findOpenSession, seeOther } from './page_handler.ts';
import { readForm } from './read_form.ts';
import { renderPage } from './render.tsx';
import { parseReturnTo } from './return_to.ts';
import { SignInPage } from './sign_in_page.tsx';

/** Why nobody was signed in, on the page where they can try again. */
export interface FailedSignIn {
  status: number;
  alert: string;
  headers?: Readonly<Record<string, string>>;
}

export interface SignInView {
  returnTo: string;
  failed?: FailedSignIn;
  note?: string;
}

const NO_SUCH_KEY =
  'this key is not known, or stands no longer: expired, revoked, or its principal disabled. Check it, or ask an operator for another';

/** The page to sign in on; its forms belong to a cookie that this browser has or now gets. */
export async function showSignIn(c: ConsoleContext, frame: Frame, view: SignInView): Promise<Response> {
  const https = isHttps(frame);
  const secret = readCookie(c.req.header('cookie'), SIGN_IN_COOKIE, https) ?? frame.newSecret();
  const { returnTo, failed, note } = view;
  const response = await renderPage(frame.assets, {
    title: 'Sign in',
    section: null,
    signedIn: null,
    status: failed?.status ?? 200,
    body: (
      <SignInPage
        csrf={computeCsrfToken(secret)}
        returnTo={returnTo}
        provider={frame.oidc?.name}
        {...(failed && { alert: failed.alert })}
        {...(note !== undefined && { note })}
      />
    ),
  });
  for (const [name, value] of Object.entries(failed?.headers ?? {})) response.headers.set(name, value);
  response.headers.append('set-cookie', giveCookie(SIGN_IN_COOKIE, secret, https));
  return response;
}

/** A form of the sign-in, checked to be one that this browser was given. @throws Fault. */
export async function readSignInForm(c: ConsoleContext, frame: Frame): Promise<ReadonlyMap<string, string>> {
  assertFromConsole(c, frame);
  const form = await readForm(c.req.raw, c.env?.incoming);
  // Without the cookie no token fits: the one of a secret that nobody has.
  const secret = readCookie(c.req.header('cookie'), SIGN_IN_COOKIE, isHttps(frame)) ?? frame.newSecret();
  assertCsrfToken(secret, form.get(CSRF_FIELD));
  return form;
}

function withRetry(fault: Fault, frame: Frame): FailedSignIn {
  const requestId = newRequestId();
  logFault(frame.log, fault, requestId);
  const { status, headers, body } = buildProblem(fault, { requestId });
  const { 'content-type': _, ...kept } = headers;
  const alert = fault.code === 'unauthenticated' ? NO_SUCH_KEY : body.detail;
  return { status, alert, headers: kept };
}

/** `withRetry` of whatever was thrown: the page to sign in on, with its status and what to do next. */
export function describeFailure(error: unknown, frame: Frame): FailedSignIn {
  return withRetry(toFault(error), frame);
}

/** Gives the browser its session and takes what only the sign-in needed. */
export function giveSession(response: Response, secret: string, https: boolean): Response {
  response.headers.append('set-cookie', giveCookie(SESSION_COOKIE, secret, https));
  response.headers.append('set-cookie', takeCookie(SIGN_IN_COOKIE, https));
  return response;
}

/** `GET /console/sign-in`. */
export async function getSignIn(c: ConsoleContext, frame: Frame): Promise<Response> {
  const query = new URL(c.req.url).searchParams;
  const returnTo = parseReturnTo(query.get('return_to'));
  if ((await findOpenSession(c, frame)) !== undefined) return seeOther(returnTo);
  const note = query.has('signed_out') ? { note: 'You are signed out.' } : {};
  return showSignIn(c, frame, { returnTo, ...note });
}

/** `POST /console/sign-in`: a session for the holder of a key, or the page again with what is wrong. */
export async function postSignIn(c: ConsoleContext, frame: Frame): Promise<Response> {
  const form = await readSignInForm(c, frame);
  const returnTo = parseReturnTo(form.get('return_to'));
  const https = isHttps(frame);
  try {
    const secret = await signIn(frame.deps, {
      key: form.get('key') ?? '',
      address: () => addressOf(c, frame),
      formerSecret: readCookie(c.req.header('cookie'), SESSION_COOKIE, https),
    });
    return giveSession(seeOther(returnTo), secret, https);
  } catch (error) {
    return showSignIn(c, frame, { returnTo, failed: describeFailure(error, frame) });
  }
}

/** `POST /console/sign-out`: ends the session; who has none is signed out already. */
export async function postSignOut(c: ConsoleContext, frame: Frame): Promise<Response> {
  assertFromConsole(c, frame);
  const session = await findOpenSession(c, frame);
  if (session !== undefined) {
    const form = await readForm(c.req.raw, c.env?.incoming);
    assertCsrfToken(session.secret, form.get(CSRF_FIELD));
    await signOut(frame.deps, session.secret);
  }
  const response = seeOther('/console/sign-in?signed_out=1');
  response.headers.append('set-cookie', takeCookie(SESSION_COOKIE, isHttps(frame)));
  return response;
}
