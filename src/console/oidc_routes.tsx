import { notFound } from '../core/common_faults.ts';
import { beginOidcLogin, takeOidcLogin } from '../operations/console/oidc_login.ts';
import { signInByOidc } from '../operations/console/sign_in_by_oidc.ts';
import { addressOf, type ConsoleContext, isHttps } from './console_options.ts';
import { giveCookie, OIDC_COOKIE, readCookie, SESSION_COOKIE, takeCookie } from './cookies.ts';
import type { Frame } from './frame.ts';
import { goOn } from './go_on.tsx';
import type { OidcClient } from './oidc_client.ts';
import { OidcError } from './oidc_error.ts';
import { parseReturnTo } from './return_to.ts';
import {
  describeFailure,
  type FailedSignIn,
  giveSession,
  readSignInForm,
  showSignIn,
} from './sign_in_routes.tsx';

const STALE =
  'this sign-in was not begun in this browser, was used already, or took longer than ten minutes. Begin it again';

const FAILURES: Record<OidcError['kind'], (name: string) => FailedSignIn> = {
  unreachable: (name) => ({
    status: 503,
    alert: `${name} does not answer. Try again in a moment, or sign in with a key`,
    headers: { 'retry-after': '5' },
  }),
  refused: (name) => ({
    status: 403,
    alert: `${name} did not sign you in. Try again, or sign in with a key`,
  }),
  invalid: (name) => ({
    status: 403,
    alert: `the answer of ${name} does not hold, so nobody was signed in. Try again, or sign in with a key`,
  }),
};

function describeOidcFailure(error: unknown, frame: Frame, { name }: OidcClient): FailedSignIn {
  if (!(error instanceof OidcError)) return describeFailure(error, frame);
  frame.log.warn({ err: error.cause, kind: error.kind }, 'the OpenID provider signed nobody in');
  return FAILURES[error.kind](name);
}

function providerOf(frame: Frame): OidcClient {
  if (frame.oidc === undefined) throw notFound();
  return frame.oidc;
}

/** `POST /console/oidc/start`: on to the provider, with a cookie by which this browser is known when it comes back. */
export async function postOidcStart(c: ConsoleContext, frame: Frame): Promise<Response> {
  const oidc = providerOf(frame);
  const form = await readSignInForm(c, frame);
  const returnTo = parseReturnTo(form.get('return_to'));
  const https = isHttps(frame);
  const browserSecret = readCookie(c.req.header('cookie'), OIDC_COOKIE, https) ?? frame.newSecret();
  const state = frame.newSecret();
  try {
    const { url, login } = await oidc.begin(state);
    await beginOidcLogin(frame.deps, { state, browserSecret }, { ...login, returnTo }, addressOf(c, frame));
    const response = await goOn(frame, `Signing in with ${oidc.name}`, `Go to ${oidc.name}`, url);
    response.headers.append('set-cookie', giveCookie(OIDC_COOKIE, browserSecret, https));
    return response;
  } catch (error) {
    return showSignIn(c, frame, { returnTo, failed: describeOidcFailure(error, frame, oidc) });
  }
}

/** `GET /console/oidc/callback`: back from the provider. What it answers counts once, and in the browser that asked. */
export async function getOidcCallback(c: ConsoleContext, frame: Frame): Promise<Response> {
  const oidc = providerOf(frame);
  const https = isHttps(frame);
  const cookies = c.req.header('cookie');
  const answer = new URL(c.req.url).searchParams;
  const state = answer.get('state');
  const browserSecret = readCookie(cookies, OIDC_COOKIE, https);
  const login =
    state === null || browserSecret === undefined
      ? undefined
      : await takeOidcLogin(frame.deps, { state, browserSecret });
  if (state === null || login === undefined) {
    return showSignIn(c, frame, { returnTo: parseReturnTo(null), failed: { status: 400, alert: STALE } });
  }
  const returnTo = parseReturnTo(login.returnTo);
  try {
    const subject = await oidc.finish(answer, state, login);
    const formerSecret = readCookie(cookies, SESSION_COOKIE, https);
    const secret = await signInByOidc(frame.deps, { tenantId: oidc.tenantId, subject, formerSecret });
    const response = giveSession(await goOn(frame, 'You are signed in', 'Go on', returnTo), secret, https);
    response.headers.append('set-cookie', takeCookie(OIDC_COOKIE, https));
    return response;
  } catch (error) {
    return showSignIn(c, frame, { returnTo, failed: describeOidcFailure(error, frame, oidc) });
  }
}
