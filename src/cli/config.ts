import { isIP } from 'node:net';
import { type Cidr, isLoopbackAddress, parseCidr } from '../http/client_address.ts';
import { type OidcConfig, readOidc, readPublicUrl } from './config_console.ts';
import { findUnknownName, suggestName, type VariableName } from './config_names.ts';
import { readSlack, type SlackConfig } from './config_slack.ts';
import { badValue, ConfigError, EnvReader, oneLine } from './config_values.ts';

export { ConfigError } from './config_values.ts';

/** The configuration of the service. What is undefined was not set and has no default. */
export interface Config extends SlackConfig {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Undefined for the embedded database. */
  readonly databaseUrl: string | undefined;
  /** A direct connection for LISTEN and migrations; `databaseUrl` where not set. */
  readonly databaseListenUrl: string | undefined;
  /** As given: a relative path is one from the working directory. */
  readonly dataDir: string;
  readonly policyDir: string;
  readonly policyDrift: 'revalidate' | 'strict';
  readonly bootstrapOperatorKey: string | undefined;
  readonly approvalTtlSeconds: number;
  readonly approvalAttemptLimit: number;
  readonly approvalAttemptWindowSeconds: number;
  readonly ipFailureLimitPerMinute: number;
  readonly pendingLimit: number;
  readonly askLimitPerHour: number;
  readonly denialSeconds: number;
  readonly slackSigningSecret: string | undefined;
  /** Networks whose forwarding headers are believed; empty for none. */
  readonly trustedProxies: readonly Cidr[];
  readonly metricsToken: string | undefined;
  /** Networks that webhooks may be sent to though they are not public. */
  readonly webhookAllow: readonly Cidr[];
  /** The service's own address, without a trailing slash. */
  readonly publicUrl: string | undefined;
  readonly oidc: OidcConfig | undefined;
}

const LIMIT_MAX = 1_000_000;
const DAY_SECONDS = 86_400;
const HOST_NAME = /^[A-Za-z0-9._-]{1,253}$/;
const DATABASE_URL = { pattern: /^postgres(ql)?:\/\/[^\s\p{C}]+$/u, what: 'a url of postgresql' };
const LOCAL_DATABASE_URL = 'postgres://user:password@localhost:5432/aegis';
const TOKEN_OF = 'characters from `A-Z a-z 0-9 - . _ ~ + /`, with `=` only at its end';

/**
 * The configuration that an environment makes, with the defaults of the wire contract ("Starting it"). A variable
 * that is empty counts as unset. Throws a `ConfigError` for the first value that is wrong and for a name that starts
 * with `AEGIS_` and is not known; its one line never holds a secret or a database url.
 */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  assertKnownNames(env);
  const reader = new EnvReader(env);
  const trustedProxies = readNetworks(reader, 'AEGIS_TRUST_PROXY');
  return {
    host: readHost(reader, trustedProxies),
    port: reader.integer('PORT', { min: 0, max: 65_535, fallback: 8080 }),
    ...readDatabaseUrls(reader),
    dataDir: reader.path('AEGIS_DATA_DIR', '.aegis'),
    policyDir: reader.path('AEGIS_POLICY_DIR', 'policies'),
    policyDrift: reader.choice('AEGIS_POLICY_DRIFT', ['revalidate', 'strict']),
    approvalTtlSeconds: reader.integer('AEGIS_APPROVAL_TTL_SECS', {
      min: 1,
      max: DAY_SECONDS,
      fallback: 1800,
    }),
    approvalAttemptLimit: readLimit(reader, 'AEGIS_APPROVAL_ATTEMPT_LIMIT', 5),
    approvalAttemptWindowSeconds: readLimit(reader, 'AEGIS_APPROVAL_ATTEMPT_WINDOW_SECS', 3600),
    ipFailureLimitPerMinute: readLimit(reader, 'AEGIS_IP_FAILURE_LIMIT_PER_MINUTE', 60),
    pendingLimit: readLimit(reader, 'AEGIS_PENDING_LIMIT', 50),
    askLimitPerHour: readLimit(reader, 'AEGIS_ASK_LIMIT_PER_HOUR', 500),
    denialSeconds: readLimit(reader, 'AEGIS_DENIAL_SECS', 1800),
    trustedProxies,
    webhookAllow: readNetworks(reader, 'AEGIS_WEBHOOK_ALLOW'),
    ...readSecrets(reader),
    publicUrl: readPublicUrl(reader),
    oidc: readOidc(reader),
    ...readSlack(reader),
  };
}

function assertKnownNames(env: NodeJS.ProcessEnv): void {
  const unknown = findUnknownName(Object.keys(env));
  if (unknown === undefined) {
    return;
  }
  const suggestion = suggestName(unknown);
  const remedy = suggestion === undefined ? 'Unset it' : `Did you mean ${suggestion}?`;
  throw new ConfigError(`${oneLine(unknown)} is not a variable of this service. ${remedy}`);
}

function readLimit(reader: EnvReader, name: VariableName, fallback: number): number {
  return reader.integer(name, { min: 1, max: LIMIT_MAX, fallback });
}

function readSecrets(
  reader: EnvReader,
): Pick<Config, 'bootstrapOperatorKey' | 'metricsToken' | 'slackSigningSecret'> {
  return {
    bootstrapOperatorKey: reader.secret('AEGIS_BOOTSTRAP_OPERATOR_KEY', {
      pattern: /^(?=.{32,256}$)[A-Za-z0-9\-._~+/]+=*$/,
      what: `a token of 32 to 256 ${TOKEN_OF}`,
      example: '$(openssl rand -hex 32)',
    }),
    metricsToken: reader.secret('AEGIS_METRICS_TOKEN', {
      pattern: /^(?=.{1,512}$)[A-Za-z0-9\-._~+/]+=*$/,
      what: `a token of 1 to 512 ${TOKEN_OF}`,
      example: '$(openssl rand -hex 32)',
    }),
    slackSigningSecret: reader.secret('AEGIS_SLACK_SIGNING_SECRET', {
      pattern: /^[!-~]{1,256}$/,
      what: 'the signing secret of a Slack app: 1 to 256 printable characters without spaces',
      example: '$(cat slack-signing-secret)',
    }),
  };
}

function readDatabaseUrls(reader: EnvReader): Pick<Config, 'databaseUrl' | 'databaseListenUrl'> {
  const rule = { ...DATABASE_URL, example: LOCAL_DATABASE_URL };
  const databaseUrl = reader.secret('DATABASE_URL', rule);
  const databaseListenUrl = reader.secret('DATABASE_LISTEN_URL', rule);
  if (databaseUrl === undefined && databaseListenUrl !== undefined) {
    throw new ConfigError(
      `DATABASE_LISTEN_URL is set but DATABASE_URL is not. For example: DATABASE_URL=${LOCAL_DATABASE_URL}`,
    );
  }
  return { databaseUrl, databaseListenUrl };
}

function readNetworks(reader: EnvReader, name: VariableName): Cidr[] {
  const texts = reader.find(name)?.split(',') ?? [];
  return texts.map((text) => {
    const network = parseCidr(text.trim());
    if (network === undefined) {
      throw badValue(name, text, 'a list of networks with commas between', '10.0.0.0/8,fd00::/8');
    }
    return network;
  });
}

/** Bearer tokens over plain HTTP are for this machine only, unless a proxy in front is named or it is asked for. */
function readHost(reader: EnvReader, trustedProxies: readonly Cidr[]): string {
  const host = reader.find('HOST') ?? '127.0.0.1';
  if (!HOST_NAME.test(host) && isIP(host) === 0) {
    throw badValue('HOST', host, 'an ip address or a host name', '127.0.0.1');
  }
  const isLoopback = host.toLowerCase() === 'localhost' || isLoopbackAddress(host);
  const isPlainHttpAllowed = reader.flag('AEGIS_ALLOW_PLAIN_HTTP') || trustedProxies.length > 0;
  if (!isLoopback && !isPlainHttpAllowed) {
    throw new ConfigError(
      `HOST is \`${oneLine(host)}\`, where other machines could send tokens over plain http. Set AEGIS_TRUST_PROXY to the networks of the proxy that ends tls, for example: AEGIS_TRUST_PROXY=10.0.0.0/8, or AEGIS_ALLOW_PLAIN_HTTP=1`,
    );
  }
  return host;
}
