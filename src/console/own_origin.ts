import { Fault } from '../core/fault.ts';
import type { PublicUrl } from '../core/public_url.ts';
import { isLoopbackAddress } from '../http/client_address.ts';

/** What browsers say of where a request comes from. */
export interface RequestSource {
  host: string | undefined;
  origin: string | undefined;
  /** `Sec-Fetch-Site` (W3C Fetch Metadata). */
  site: string | undefined;
}

const OWN_SITES: readonly string[] = ['same-origin', 'none'];

function isLoopbackHost(host: string): boolean {
  if (!URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  return hostname === 'localhost' || isLoopbackAddress(hostname.replace(/^\[|\]$/g, ''));
}

/** The origins (RFC 6454) of the console's own pages; where no address is configured, also a loopback one as it was called. */
function ownOrigins(publicUrl: PublicUrl, host: string | undefined): string[] {
  const own = [new URL(publicUrl.get()).origin];
  if (!publicUrl.isConfigured && host !== undefined && isLoopbackHost(host)) {
    own.push(new URL(`http://${host}`).origin);
  }
  return own;
}

/**
 * Refuses what a page of another origin has sent; a browser names it, and `null` is another. Without both headers it
 * is no browser of today, and the CSRF token alone decides.
 * @throws Fault `forbidden`.
 */
export function assertOwnOrigin(publicUrl: PublicUrl, { host, origin, site }: RequestSource): void {
  const isOwnOrigin = origin === undefined || ownOrigins(publicUrl, host).includes(origin);
  const isOwnSite = site === undefined || OWN_SITES.includes(site);
  if (isOwnOrigin && isOwnSite) return;
  throw new Fault(
    'forbidden',
    `this form was not sent by a page of the console. Open ${publicUrl.get()}/console and send it from there`,
  );
}
