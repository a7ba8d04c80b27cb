import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address and the length of its prefix in bits. */
export type Network = readonly [Address, number];

/** Whether a webhook may be sent to an address. */
export type AddressGuard = (address: string) => boolean;

/** All that is global unicast by now (IANA's registry of IPv6 unicast addresses). */
const GLOBAL_IPV6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** Public by its number, but answered by the host of a virtual machine alone: Azure's wire server. */
const METADATA = ipaddr.IPv4.parse('168.63.129.16').toString();

/** In hexadecimal alone: ipaddr.js takes `::1.2.3.4` for `::ffff:1.2.3.4`, which is another address. */
function toHexadecimal(text: string): string | undefined {
  const url = `http://[${text}]/`;
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : undefined;
}

/** An address of IPv4 that is mapped into IPv6 (RFC 4291 §2.5.5.2) is the one of IPv4. One with a zone is none here. */
function parseAddress(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  const hexadecimal = toHexadecimal(text);
  if (hexadecimal === undefined) return undefined;
  const address = ipaddr.IPv6.parse(hexadecimal);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/**
 * Public addresses alone: everything with a special purpose in IANA's registries (RFC 6890) is not, nor is IPv4 in
 * IPv6 by way of a translator, which leads to inner addresses as well.
 */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  if (address instanceof ipaddr.IPv6) return address.match(GLOBAL_IPV6);
  return address.toString() !== METADATA;
}

/** A guard that lets public addresses pass, and those of the networks given. What is no address does not pass. */
export function createAddressGuard(allowed: readonly Network[]): AddressGuard {
  return (text) => {
    const address = parseAddress(text);
    if (address === undefined) return false;
    const isAllowed = allowed.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );
    return isAllowed || isPublic(address);
  };
}
