import type { Writer } from './agent_ports.ts';
import { Fault } from './fault.ts';

// What the operations need of passkeys (Web Authentication Level 3). Binary values are base64url without padding.
// Errors are those of `ports.ts`.

/** What `navigator.credentials.get` answers, as far as it is looked at. */
export interface AssertionResponse {
  id: string;
  rawId: string;
  response: { clientDataJSON: string; authenticatorData: string; signature: string };
}

/** What `navigator.credentials.create` answers, as far as it is looked at. */
export interface AttestationResponse {
  id: string;
  rawId: string;
  response: {
    clientDataJSON: string;
    attestationObject: string;
    transports?: readonly string[] | null | undefined;
  };
}

/** A passkey that stands. */
export interface Passkey {
  credentialId: string;
  principal: string;
  /** COSE key (RFC 9053 §7). */
  publicKey: string;
  /** Uses that the authenticator counted; 0 for one that does not count. */
  counter: number;
  /** How the authenticator can be reached. */
  transports: string[];
  /** Whether the key is kept in more than one place. */
  isBackedUp: boolean;
  label: string | null;
  createdAt: Date;
  lastUsedAt: Date | null;
}

export type NewPasskey = Omit<Passkey, 'principal' | 'createdAt' | 'lastUsedAt'>;

/** Bytes given to an authenticator to sign, for one answer. */
export interface Challenge {
  challenge: string;
  purpose: 'registration' | 'vote';
  /** A vote's approval, and the canonical statement whose SHA-256 the challenge is. */
  approvalId: string | null;
  statement: string | null;
  /** The hash of the code that a registration rests on; null where an older passkey vouches for the new one. */
  codeHash: string | null;
}

export interface NewChallenge extends Challenge {
  tenantId: string;
  principal: string;
  lifeSeconds: number;
  /** It ends no later than this. */
  notAfter: Date | null;
}

/** Who vouches for a new passkey: whoever gave the code, or an older one with its counter as it is after that. */
export type Voucher =
  | { kind: 'code'; codeHash: string }
  | { kind: 'passkey'; credentialId: string; counter: number };

export interface PasskeyStore {
  /** A principal's passkeys, oldest first. */
  list(tenantId: string, principal: string): Promise<Passkey[]>;
  /**
   * Keeps an enrolment code's hash for a principal; codes made for it before are void.
   * @throws Fault `not_found` for a principal that is not there, or disabled.
   */
  issueCode(writer: Writer, principal: string, codeHash: string, lifeSeconds: number): Promise<Date>;
  /** Whether a code is this principal's, unused and in time. */
  isCodeGood(tenantId: string, principal: string, codeHash: string): Promise<boolean>;
  /** Keeps a challenge, and forgets the principal's oldest when they have very many; until when. */
  openChallenge(challenge: NewChallenge): Promise<Date>;
  /** A principal's challenge that is in time, whether used or not. */
  findChallenge(tenantId: string, principal: string, challenge: string): Promise<Challenge | undefined>;
  /**
   * Keeps the writer's new passkey, and spends the challenge and what vouches for it, in one transaction.
   * @throws Fault `signature_invalid` when one of them was spent meanwhile; `invalid_request` when the credential is
   *   known already, or one more than a principal can have.
   */
  register(writer: Writer, challenge: string, voucher: Voucher, passkey: NewPasskey): Promise<Passkey>;
  /** Removes a passkey: the one of this principal, or of any with null. @throws Fault `not_found`. */
  remove(writer: Writer, credentialId: string, principal: string | null): Promise<void>;
}

/** What was signed, or by whom, is not what it has to be. `detail` says so, and what to do. */
export function signatureInvalid(detail: string): Fault {
  return new Fault('signature_invalid', detail);
}

/** What was given to sign has had its answer, or its time has passed. */
export function challengeSpent(): Fault {
  return signatureInvalid(
    'what was signed was used before, has expired or was never given to you. Get new options and sign those',
  );
}

/** The passkey is removed, somebody else's, or counts no further than it did. */
export function passkeyRefused(): Fault {
  return signatureInvalid(
    'this passkey is not one of yours, or its counter went back as that of a copy does. Sign with another one',
  );
}
