const HOME = '/console';
const LENGTH_MAX = 2048;
const BASE = 'http://console.invalid';
/** Pages that are no place to come back to. */
const PASSING = /^\/console\/(?:sign-in|sign-out|oidc|assets|events)(?:\/|$)/;

/**
 * Where to go after the sign-in: a path of the console with its query, as a browser would read it; the queue for
 * anything else, so that no link can send somebody who signs in to another site.
 */
export function parseReturnTo(given: string | null | undefined): string {
  if (given == null || given.length > LENGTH_MAX || !/^\/console(?:[/?][!-~]*)?$/.test(given)) return HOME;
  if (given.includes('\\') || given.includes('//') || !URL.canParse(given, BASE)) return HOME;
  const { origin, pathname, search } = new URL(given, BASE);
  const isOwn = origin === BASE && (pathname === HOME || pathname.startsWith(`${HOME}/`));
  return isOwn && !PASSING.test(pathname) ? pathname + search : HOME;
}
