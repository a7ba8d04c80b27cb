import { findNearestName } from '../core/nearest_name.ts';

/** Every variable that the service reads (wire contract, "Starting it"). */
export const VARIABLES = [
  'PORT',
  'HOST',
  'DATABASE_URL',
  'DATABASE_LISTEN_URL',
  'AEGIS_ALLOW_PLAIN_HTTP',
  'AEGIS_APPROVAL_ATTEMPT_LIMIT',
  'AEGIS_APPROVAL_ATTEMPT_WINDOW_SECS',
  'AEGIS_APPROVAL_TTL_SECS',
  'AEGIS_ASK_LIMIT_PER_HOUR',
  'AEGIS_BOOTSTRAP_OPERATOR_KEY',
  'AEGIS_DATA_DIR',
  'AEGIS_DENIAL_SECS',
  'AEGIS_IP_FAILURE_LIMIT_PER_MINUTE',
  'AEGIS_METRICS_TOKEN',
  'AEGIS_OIDC_CLIENT_ID',
  'AEGIS_OIDC_CLIENT_SECRET',
  'AEGIS_OIDC_ISSUER',
  'AEGIS_OIDC_TENANT',
  'AEGIS_PENDING_LIMIT',
  'AEGIS_POLICY_DIR',
  'AEGIS_POLICY_DRIFT',
  'AEGIS_PUBLIC_URL',
  'AEGIS_SLACK_API_URL',
  'AEGIS_SLACK_BOT_TOKEN',
  'AEGIS_SLACK_CHANNEL',
  'AEGIS_SLACK_SIGNING_SECRET',
  'AEGIS_SLACK_TENANT',
  'AEGIS_SLACK_WEBHOOK_URL',
  'AEGIS_TRUST_PROXY',
  'AEGIS_WEBHOOK_ALLOW',
] as const;

export type VariableName = (typeof VARIABLES)[number];

/**
 * Names of this prefix that others own: the terminal client's, and what Kubernetes sets in every pod for a service
 * that is called `aegis`.
 */
const IGNORED = /^AEGIS_(URL|KEY|PORT|PORT_.*|SERVICE_.*)$/;

/** A name further away than this is no slip of the hand. */
const SLIPS_MAX = 6;

/** The first name, in order, that starts with `AEGIS_` and means nothing to the service or to others. */
export function findUnknownName(names: readonly string[]): string | undefined {
  const known = new Set<string>(VARIABLES);
  return names
    .filter((name) => name.startsWith('AEGIS_') && !known.has(name) && !IGNORED.test(name))
    .sort()[0];
}

/** The variable nearest to a name, by edits of single characters; undefined when none is near. */
export function suggestName(name: string): VariableName | undefined {
  return findNearestName(name, VARIABLES, SLIPS_MAX);
}
