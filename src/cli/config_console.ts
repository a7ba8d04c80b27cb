import { TENANT_ID } from '../core/identifiers.ts';
import { isLoopbackAddress } from '../http/client_address.ts';
import type { VariableName } from './config_names.ts';
import { badValue, ConfigError, type EnvReader } from './config_values.ts';

/** Where people sign in with OpenID Connect (OpenID Connect Core 1.0). */
export interface OidcConfig {
  /** An https address, or http on this machine. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The tenant whose principals the provider's subjects are mapped to. */
  readonly tenantId: string;
}

const OIDC_NAMES = ['AEGIS_OIDC_ISSUER', 'AEGIS_OIDC_CLIENT_ID', 'AEGIS_OIDC_CLIENT_SECRET'] as const;

function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || isLoopbackAddress(hostname.replace(/^\[|\]$/g, ''));
}

/** An address of http(s) with no more than a path; over http only on this machine, unless that is allowed. */
function parseAddress(text: string, isPlainHttpAllowed: boolean): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^[!-~]+$/.test(text)) return undefined;
  const isPlain = url.protocol === 'http:' && (isPlainHttpAllowed || isLoopbackHost(url.hostname));
  const hasMore = /[?#]/.test(text) || url.username !== '' || url.password !== '';
  return (url.protocol === 'https:' || isPlain) && !hasMore ? url : undefined;
}

/** The service's own address. @throws ConfigError unless it is an origin. */
export function readPublicUrl(reader: EnvReader): string | undefined {
  const text = reader.find('AEGIS_PUBLIC_URL');
  if (text === undefined) return undefined;
  const url = parseAddress(text, reader.flag('AEGIS_ALLOW_PLAIN_HTTP'));
  if (url === undefined || url.pathname !== '/') {
    const what =
      'the address people open, without a path: https, or http on this machine (or anywhere with AEGIS_ALLOW_PLAIN_HTTP=1)';
    throw badValue('AEGIS_PUBLIC_URL', text, what, 'https://aegis.example.com');
  }
  return url.origin;
}

function readText(
  reader: EnvReader,
  name: VariableName,
  pattern: RegExp,
  what: string,
  example: string,
): string {
  const text = reader.find(name) ?? '';
  if (!pattern.test(text)) throw badValue(name, text, what, example);
  return text;
}

function readSecret(reader: EnvReader): string {
  const rule = {
    pattern: /^[!-~]{1,512}$/,
    what: 'the client secret of the provider: 1 to 512 printable characters without spaces',
    example: '$(cat oidc-client-secret)',
  };
  return reader.secret('AEGIS_OIDC_CLIENT_SECRET', rule) ?? '';
}

function assertTogether(reader: EnvReader): void {
  const missing = OIDC_NAMES.find((name) => reader.find(name) === undefined);
  if (missing === undefined) return;
  throw new ConfigError(
    `${missing} is not set, but sign-in with OpenID Connect needs ${OIDC_NAMES.join(', ')} together. Set it, or unset the others`,
  );
}

/** The OpenID provider; undefined when none of its variables is set. @throws ConfigError. */
export function readOidc(reader: EnvReader): OidcConfig | undefined {
  const names: readonly VariableName[] = [...OIDC_NAMES, 'AEGIS_OIDC_TENANT'];
  if (names.every((name) => reader.find(name) === undefined)) return undefined;
  assertTogether(reader);
  const issuer = reader.find('AEGIS_OIDC_ISSUER') ?? '';
  if (parseAddress(issuer, false) === undefined) {
    const what = "the provider's issuer: an https address, or http on this machine";
    throw badValue('AEGIS_OIDC_ISSUER', issuer, what, 'https://login.example.com');
  }
  const idOf = 'the client id of the provider: 1 to 256 printable characters without spaces';
  const tenantId = reader.find('AEGIS_OIDC_TENANT') ?? 'default';
  if (!TENANT_ID.test(tenantId))
    throw badValue('AEGIS_OIDC_TENANT', tenantId, 'the id of a tenant', 'default');
  return {
    issuer,
    clientId: readText(reader, 'AEGIS_OIDC_CLIENT_ID', /^[!-~]{1,256}$/, idOf, 'aegis'),
    clientSecret: readSecret(reader),
    tenantId,
  };
}
