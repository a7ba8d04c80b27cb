import { createHash, timingSafeEqual } from 'node:crypto';
import { isLoopbackAddress } from './client_address.ts';
import { parseBearer } from './request_headers.ts';

export interface MetricsRequest {
  /** The connection's other end, as node names it. */
  peerAddress: string | undefined;
  headers: Headers;
  /** The configured token; undefined when only loopback may read. */
  metricsToken: string | undefined;
}

/** Headers by which a proxy says that it passes on another's request. */
const FORWARDING_HEADER = /^(x-forwarded(-.*)?|forwarded|via|x-real-ip|x-client-ip|x-original-host)$/;

/**
 * Whether a request may read the metrics: it comes from this machine itself, or it has the token. Itself means the
 * peer is loopback, `Host` names loopback (a page in a browser here that rebinds its name does not), and no header
 * says that a proxy passed it on.
 */
export function isMetricsAllowed({ peerAddress, headers, metricsToken }: MetricsRequest): boolean {
  const isLocal =
    isLoopbackAddress(peerAddress ?? '') &&
    isLoopbackHost(headers.get('host') ?? '') &&
    !isForwarded(headers);
  return isLocal || hasToken(headers.get('authorization') ?? undefined, metricsToken);
}

/** Whether any header says that a proxy passed the request on. */
export function isForwarded(headers: Headers): boolean {
  return [...headers.keys()].some((name) => FORWARDING_HEADER.test(name.toLowerCase()));
}

function isLoopbackHost(host: string): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return name === 'localhost' || isLoopbackAddress(name);
}

function hasToken(authorization: string | undefined, metricsToken: string | undefined): boolean {
  const credential = parseBearer(authorization);
  return (
    metricsToken !== undefined && credential.kind === 'token' && isSameText(credential.token, metricsToken)
  );
}

/** Compares digests, so that the time taken tells neither content nor length. */
function isSameText(left: string, right: string): boolean {
  return timingSafeEqual(sha256(left), sha256(right));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
