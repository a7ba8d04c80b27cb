import type { Caller } from './caller.ts';
import type { NewKey } from './ports.ts';

// What the console's sign-in needs of the outside. Errors are those of `ports.ts`.

/** How somebody signed in: with a key of their own, or at the OpenID provider, which makes a key for the session. */
export type SessionOrigin = 'key' | 'oidc';

/** A session that stands, with its key's caller as of now. */
export interface ConsoleSession {
  caller: Caller;
  origin: SessionOrigin;
  /** No later than the key's expiry. */
  expiresAt: Date;
}

/** What a sign-in writes of an OpenID session: who it is for, and the key made for it. */
export interface OidcSession {
  /** The provider's `sub`, which an operator has mapped to one principal of the key's tenant. */
  subject: string;
  sessionHash: string;
  key: Omit<NewKey, 'principal' | 'expiresAt'>;
}

export interface ConsoleSessionStore {
  /**
   * The session behind a cookie, with its key's caller, read from the database at each call; undefined unless both
   * stand now: a revoked, disabled, frozen or expired key has no session.
   */
  find(sessionHash: string): Promise<ConsoleSession | undefined>;
  /**
   * Opens a session for a key, for 12 hours and no longer than the key stands.
   * @throws Fault `unauthenticated`, `agent_frozen` unless the key stands at the write.
   */
  open(sessionHash: string, keyId: string): Promise<void>;
  /**
   * Makes a key for the principal that the subject is mapped to, and a session for it, in one transaction; both end
   * after 12 hours. Says why where it does neither.
   */
  openOidc(session: OidcSession): Promise<'opened' | 'unmapped' | 'disabled' | 'frozen'>;
  /**
   * Ends a session. The key made for an OpenID session is revoked with it, as `rotated`, so that its votes stay. A
   * session that is not there has ended.
   */
  close(sessionHash: string): Promise<void>;
}

/** A sign-in that is at the OpenID provider. */
export interface OidcLogin {
  nonce: string;
  codeVerifier: string;
  /** A path of the console. */
  returnTo: string;
}

export interface OidcLoginStore {
  /** Keeps a sign-in for 10 minutes under the hash of its state. */
  begin(stateHash: string, login: OidcLogin): Promise<void>;
  /** Takes a sign-in, once: of two that take the same state, one has it. Undefined when it is not there or too old. */
  take(stateHash: string): Promise<OidcLogin | undefined>;
}
