/** A cookie of the console: read by no script, sent under its path alone. */
export interface CookieKind {
  name: string;
  path: string;
  /** `Strict` unless it must come along when another site sends the browser here. */
  sameSite: 'Strict' | 'Lax';
  maxAgeSeconds: number;
}

/** A secret as `newSecret` makes it. */
const SECRET = /^[0-9A-Za-z]{43}$/;

function nameOf(kind: CookieKind, isHttps: boolean): string {
  return isHttps ? `__Secure-${kind.name}` : kind.name;
}

/**
 * The secret in a cookie of a `Cookie` header (RFC 6265 §4.2). Undefined when it is not there, is no secret, or stands
 * twice: then one of the two was put there from elsewhere, and nothing tells which.
 */
export function readCookie(
  header: string | undefined,
  kind: CookieKind,
  isHttps: boolean,
): string | undefined {
  const prefix = `${nameOf(kind, isHttps)}=`;
  const [found, ...more] = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length));
  return found !== undefined && more.length === 0 && SECRET.test(found) ? found : undefined;
}

function setCookie(kind: CookieKind, value: string, maxAgeSeconds: number, isHttps: boolean): string {
  const attributes = [
    `${nameOf(kind, isHttps)}=${value}`,
    `Path=${kind.path}`,
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    `SameSite=${kind.sameSite}`,
    ...(isHttps ? ['Secure'] : []),
  ];
  return attributes.join('; ');
}

/** The `Set-Cookie` that gives a browser a secret. */
export function giveCookie(kind: CookieKind, secret: string, isHttps: boolean): string {
  return setCookie(kind, secret, kind.maxAgeSeconds, isHttps);
}

/** The `Set-Cookie` that takes it away. */
export function takeCookie(kind: CookieKind, isHttps: boolean): string {
  return setCookie(kind, '', 0, isHttps);
}

const SESSION_SECONDS = 12 * 3600;
const SIGN_IN_SECONDS = 3600;
const OIDC_SECONDS = 600;

/** Who is signed in. */
export const SESSION_COOKIE: CookieKind = {
  name: 'aegis_session',
  path: '/console',
  sameSite: 'Strict',
  maxAgeSeconds: SESSION_SECONDS,
};

/** Proves that the form of a sign-in is one that this browser was given. */
export const SIGN_IN_COOKIE: CookieKind = {
  name: 'aegis_sign_in',
  path: '/console',
  sameSite: 'Strict',
  maxAgeSeconds: SIGN_IN_SECONDS,
};

/** Proves that this browser began the sign-in it comes back from; the provider's site sends it here. */
export const OIDC_COOKIE: CookieKind = {
  name: 'aegis_oidc',
  path: '/console/oidc',
  sameSite: 'Lax',
  maxAgeSeconds: OIDC_SECONDS,
};
