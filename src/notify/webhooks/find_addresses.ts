import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { AddressGuard } from './address_guard.ts';

export interface HostAddress {
  address: string;
  family: number;
}

/** Finds a name's addresses, as the system does: hosts file and DNS. Rejects when there is none. */
export type ResolveHost = (hostname: string) => Promise<HostAddress[]>;

export const resolveBySystem: ResolveHost = (hostname) => lookup(hostname, { all: true });

/** Names that are this machine whatever a resolver says (RFC 6761 §6.3), with or without the root's dot. */
const LOCALHOST = /(^|\.)localhost\.?$/i;

export type FoundAddresses =
  | { kind: 'found'; addresses: [HostAddress, ...HostAddress[]] }
  | { kind: 'unknown' }
  | { kind: 'refused' };

async function resolve(host: string, resolveHost: ResolveHost): Promise<HostAddress[]> {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(bare);
  if (family !== 0) return [{ address: bare, family }];
  if (!LOCALHOST.test(host)) return resolveHost(host);
  return [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
}

/**
 * The addresses of a URL's host, refused as a whole when the guard lets one of them not pass: a name that leads inside
 * now and then is no name to call. Whoever connects connects to these, and resolves nothing again.
 */
export async function findAddresses(
  url: URL,
  guard: AddressGuard,
  resolveHost: ResolveHost,
): Promise<FoundAddresses> {
  let found: HostAddress[];
  try {
    found = await resolve(url.hostname, resolveHost);
  } catch {
    return { kind: 'unknown' };
  }
  const [first, ...others] = found;
  if (first === undefined) return { kind: 'unknown' };
  const isRefused = found.some(({ address }) => !guard(address));
  return isRefused ? { kind: 'refused' } : { kind: 'found', addresses: [first, ...others] };
}
