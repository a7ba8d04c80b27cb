import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  foreignKey,
  index,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, instant } from './columns.ts';
import { approvals, principals } from './schema.ts';

// How people sign in, and sign.

/**
 * Sessions of the console, found by the hash of the cookie before the tenant is known; hence global. Each stands for
 * a key: revoking that ends it.
 */
export const consoleSessions = pgTable(
  'console_sessions',
  {
    sessionHash: text('session_hash').primaryKey(),
    keyId: uuid('key_id').notNull(),
    origin: text('origin').$type<'key' | 'oidc'>().notNull(),
    createdAt: createdAt(),
    expiresAt: instant('expires_at').notNull(),
  },
  (t) => [
    index('console_sessions_key').on(t.keyId),
    index('console_sessions_expiry').on(t.expiresAt),
    check('console_sessions_origin', sql`${t.origin} in ('key', 'oidc')`),
  ],
);

/** Sign-ins that are at the OpenID provider; read once, before the tenant is known; hence global. */
export const oidcLogins = pgTable(
  'oidc_logins',
  {
    stateHash: text('state_hash').primaryKey(),
    nonce: text('nonce').notNull(),
    codeVerifier: text('code_verifier').notNull(),
    returnTo: text('return_to').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (t) => [index('oidc_logins_expiry').on(t.expiresAt)],
);

export const passkeys = pgTable(
  'passkeys',
  {
    tenantId: text('tenant_id').notNull(),
    /** base64url, as the authenticator gave it. */
    credentialId: text('credential_id').notNull(),
    principal: text('principal').notNull(),
    /** COSE key (RFC 9053) in base64url. */
    publicKey: text('public_key').notNull(),
    /** The authenticator's signature counter, where it has one. */
    counter: bigint('counter', { mode: 'number' }).notNull(),
    transports: text('transports').array().notNull(),
    isBackedUp: boolean('is_backed_up').notNull(),
    label: text('label'),
    createdAt: createdAt(),
    lastUsedAt: instant('last_used_at'),
    removedAt: instant('removed_at'),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.credentialId] }),
    foreignKey({
      columns: [t.tenantId, t.principal],
      foreignColumns: [principals.tenantId, principals.principal],
    }),
    index('passkeys_principal').on(t.tenantId, t.principal),
  ],
);

/** Codes with which an operator lets somebody register their first passkey. */
export const enrolmentCodes = pgTable(
  'enrolment_codes',
  {
    tenantId: text('tenant_id').notNull(),
    codeHash: text('code_hash').notNull(),
    principal: text('principal').notNull(),
    createdBy: text('created_by').notNull(),
    createdAt: createdAt(),
    expiresAt: instant('expires_at').notNull(),
    usedAt: instant('used_at'),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.codeHash] }),
    foreignKey({
      columns: [t.tenantId, t.principal],
      foreignColumns: [principals.tenantId, principals.principal],
    }),
  ],
);

/** What was given to authenticators to sign, each for one answer. */
export const webauthnChallenges = pgTable(
  'webauthn_challenges',
  {
    tenantId: text('tenant_id').notNull(),
    /** base64url. */
    challenge: text('challenge').notNull(),
    principal: text('principal').notNull(),
    purpose: text('purpose').$type<'registration' | 'vote'>().notNull(),
    /** The vote's approval, and the canonical statement whose SHA-256 the challenge is. */
    approvalId: uuid('approval_id'),
    statement: text('statement'),
    /** The code that a registration rests on; null where an older passkey vouches for the new one. */
    codeHash: text('code_hash'),
    createdAt: createdAt(),
    expiresAt: instant('expires_at').notNull(),
    usedAt: instant('used_at'),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.challenge] }),
    foreignKey({
      columns: [t.tenantId, t.principal],
      foreignColumns: [principals.tenantId, principals.principal],
    }),
    foreignKey({
      columns: [t.tenantId, t.approvalId],
      foreignColumns: [approvals.tenantId, approvals.approvalId],
    }),
    index('webauthn_challenges_expiry').on(t.tenantId, t.expiresAt),
    check(
      'webauthn_challenges_statement',
      sql`(${t.purpose} = 'vote') = (${t.approvalId} is not null and ${t.statement} is not null)`,
    ),
    check('webauthn_challenges_code', sql`${t.codeHash} is null or ${t.purpose} = 'registration'`),
  ],
);
