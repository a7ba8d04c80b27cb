/** What policy is told of a host. */
export interface HostFacts {
  /** As the WHATWG URL standard writes it, in lower case and without a dot at its end; an IPv6 address in brackets. */
  host: string;
  /** As given, else the default of the scheme, else 0. */
  port: number;
}

/** WHATWG URL standard, special schemes. */
const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, ws: 80, wss: 443, ftp: 21 };

/** Dropped by some wherever they stand. */
const CONTROL = /\p{Cc}/u;
/** What readers differ on between scheme and path. */
const AMBIGUOUS = /[\p{Z}\p{Cf}\\]/u;
const URL_FORM = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]+)(?:[/?#].*)?$/i;
const AUTHORITY = /^(?:[^@]*@)?(\[[0-9a-f:.]+\]|[^:@[\]]+)(?::([0-9]{1,5}))?$/i;

/**
 * Reads `host`, `host:port`, `[address]:port`, or a URL of any scheme (RFC 3986 §3.2). The host is in the form that
 * the WHATWG URL parser gives it, internationalised names and spellings of IPv4 addresses included. Undefined for
 * what names no host, or names different ones to different readers.
 */
export function readHost(text: string): HostFacts | undefined {
  const url = URL_FORM.exec(text);
  const named = url?.[2] ?? text;
  if (CONTROL.test(text) || AMBIGUOUS.test(named)) return undefined;
  const authority = AUTHORITY.exec(named);
  // Without a scheme there is nobody to log in as, nor anything behind the host.
  if (authority === null || (url === null && /[@/?#]/.test(text))) return undefined;
  const host = normalizeHost(authority[1] ?? '');
  const given = authority[2];
  const port = given === undefined ? (DEFAULT_PORTS[(url?.[1] ?? '').toLowerCase()] ?? 0) : Number(given);
  return host === undefined || port > 65_535 ? undefined : { host, port };
}

/** As a host of `http`, whatever its scheme: the parser leaves those of schemes it does not know as they are. */
function normalizeHost(text: string): string | undefined {
  if (!URL.canParse(`http://${text}/`)) return undefined;
  const { hostname } = new URL(`http://${text}/`);
  const host = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  return host === '' || host.endsWith('.') || host.startsWith('.') ? undefined : host;
}
