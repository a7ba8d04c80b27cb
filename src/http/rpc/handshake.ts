import type { IncomingMessage } from 'node:http';
import { Fault } from '../../core/fault.ts';
import { readQuery } from '../read_query.ts';
import { parseBearer } from '../request_headers.ts';

/** Where JSON-RPC is spoken. */
export const RPC_PATH = '/v1/rpc';
/** The subprotocol that is spoken, and the one by which browsers, which cannot set headers, bring their credential. */
export const RPC_PROTOCOL = 'aegis.rpc';
const BEARER_PROTOCOL = 'aegis.bearer.';

/** A subprotocol's name (RFC 6455 §4.1: a token of RFC 9110 §5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Sixteen bytes in base64 (RFC 6455 §4.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = '13';

/** What a client asks for when it opens a connection. */
export interface Handshake {
  /** Undefined without a credential, with two, or with one that no credential can be. */
  token: string | undefined;
}

function malformed(what: string): Fault {
  return new Fault('bad_request', `${what}. Open the connection as RFC 6455 has it`);
}

/** Whether a request asks to speak WebSocket on the path of JSON-RPC; any other upgrade is not for us. */
export function isRpcUpgrade({ url, headers }: IncomingMessage): boolean {
  const wanted = (headers.upgrade ?? '').split(',').map((name) => name.trim().toLowerCase());
  return (url ?? '').split('?', 1)[0] === RPC_PATH && wanted.includes('websocket');
}

/** The subprotocols offered. A bearer token's `/`, `+` and `=` have no place in one: `/` and `=` are refused here. */
function readProtocols(header: string | undefined): string[] {
  if (header === undefined) return [];
  const names = header.split(',').map((name) => name.trim());
  if (!names.every((name) => TOKEN.test(name)) || new Set(names).size < names.length) {
    throw malformed(
      'the `sec-websocket-protocol` header is no list of distinct tokens (a credential with `/` or `=` goes into `authorization`)',
    );
  }
  if (!names.includes(RPC_PROTOCOL)) {
    throw malformed(`no subprotocol that is offered is spoken here. Offer \`${RPC_PROTOCOL}\``);
  }
  return names;
}

function readToken(authorization: string | undefined, protocols: readonly string[]): string | undefined {
  const offered = protocols.filter((name) => name.startsWith(BEARER_PROTOCOL));
  const [bearer, ...more] = [
    ...(authorization === undefined ? [] : [authorization]),
    ...offered.map((name) => `Bearer ${name.slice(BEARER_PROTOCOL.length)}`),
  ].map(parseBearer);
  return bearer?.kind === 'token' && more.length === 0 ? bearer.token : undefined;
}

/**
 * Reads what opens a connection. @throws Fault `bad_request` for a handshake that is none; ZodError for a query: a
 * token there would stand in logs.
 */
export function readHandshake({ method, url, headers }: IncomingMessage): Handshake {
  if (method !== 'GET') throw malformed('a connection is opened by `GET`');
  if (headers.upgrade?.toLowerCase() !== 'websocket') throw malformed('`upgrade` is not `websocket` alone');
  if (!KEY.test(headers['sec-websocket-key'] ?? ''))
    throw malformed('`sec-websocket-key` is missing or malformed');
  if (headers['sec-websocket-version'] !== VERSION) {
    throw malformed(`\`sec-websocket-version\` is not ${VERSION}`);
  }
  readQuery(url ?? '', undefined);
  return { token: readToken(headers.authorization, readProtocols(headers['sec-websocket-protocol'])) };
}

const DEFAULT_PORTS: Record<string, string> = { 'http:': ':80', 'https:': ':443' };

/**
 * Whether a page of another site opens the connection: its `Origin` (RFC 6454) names another host than the request's
 * own `Host`, or none. Without an `Origin` it is no page. The scheme is not compared: behind a proxy that speaks TLS
 * it is another than ours.
 */
export function isForeignOrigin(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined) return false;
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  const defaultPort = DEFAULT_PORTS[url?.protocol ?? ''];
  if (url === undefined || defaultPort === undefined || host === undefined) return true;
  const own = host.toLowerCase();
  return url.host !== (own.endsWith(defaultPort) ? own.slice(0, -defaultPort.length) : own);
}
