import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A network: an address and the length of its prefix in bits. */
export type Cidr = readonly [Address, number];

/** What a client counts as whose address is not known, such as over a Unix socket. */
export const UNKNOWN_ADDRESS = 'unknown';

/** Clients of IPv6 are given a /64 each and choose their address in it (RFC 7934). */
const IPV6_CLIENT_BITS = 64;
const IPV4_MAPPED_BITS = 96;

/** A network such as `10.0.0.0/8`, or a single address; undefined for any other text. */
export function parseCidr(text: string): Cidr | undefined {
  const [addressText = '', bitsText, ...rest] = text.split('/');
  const address = parsePlainAddress(addressText);
  if (address === undefined || rest.length > 0) {
    return undefined;
  }
  const bitsMax = address.kind() === 'ipv4' ? 32 : 128;
  if (bitsText !== undefined && !/^\d{1,3}$/.test(bitsText)) {
    return undefined;
  }
  const bits = bitsText === undefined ? bitsMax : Number(bitsText);
  if (bits > bitsMax) {
    return undefined;
  }
  return isMapped(address) && bits >= IPV4_MAPPED_BITS
    ? [address.toIPv4Address(), bits - IPV4_MAPPED_BITS]
    : [address, bits];
}

/**
 * The address that a request counts for: an IPv4 address, or the /64 of an IPv6 one. That is the peer's, unless the
 * peer is trusted: then the right-most address of `X-Forwarded-For` that is not. Whoever adds to that header adds on
 * the right, so nothing left of the first untrusted address is believed; an entry that is no address ends the walk
 * at the trusted address that sent it. Without trusted networks the header is ignored. Never throws.
 */
export function clientAddress(
  peerAddress: string | undefined,
  forwardedFor: string | undefined,
  trusted: readonly Cidr[],
): string {
  let client = parseAddress(peerAddress ?? '');
  const hops = (forwardedFor ?? '').split(',').map((hop) => hop.trim());
  while (client !== undefined && isWithin(client, trusted)) {
    const hop = parseAddress(hops.pop() ?? '');
    if (hop === undefined) {
      break;
    }
    client = hop;
  }
  return client === undefined ? UNKNOWN_ADDRESS : countedAs(client);
}

/** Whether an address, in any of its forms, is this machine's own (127.0.0.0/8, ::1). */
export function isLoopbackAddress(text: string): boolean {
  return parseAddress(text)?.range() === 'loopback';
}

function isWithin(address: Address, networks: readonly Cidr[]): boolean {
  return networks.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  );
}

function countedAs(address: Address): string {
  if (address.kind() === 'ipv4') {
    return address.toString();
  }
  const network = address.toByteArray().fill(0, IPV6_CLIENT_BITS / 8);
  return `${ipaddr.fromByteArray(network).toString()}/${IPV6_CLIENT_BITS}`;
}

/** An address with or without a port (`1.2.3.4:5`, `[::1]:5`); one of IPv4 mapped into IPv6 is that of IPv4. */
function parseAddress(text: string): Address | undefined {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = parsePlainAddress(bare);
  return isMapped(address) ? address.toIPv4Address() : address;
}

function parsePlainAddress(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) {
    return ipaddr.IPv4.parse(text);
  }
  return text.includes(':') && ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined;
}

function isMapped(address: Address | undefined): address is ipaddr.IPv6 {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress();
}
