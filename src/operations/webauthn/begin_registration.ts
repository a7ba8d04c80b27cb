import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import type { Caller } from '../../core/caller.ts';
import { sha256Hex } from '../../core/digest.ts';
import { Fault } from '../../core/fault.ts';
import { type Passkey, signatureInvalid } from '../../core/webauthn_ports.ts';
import type { Deps } from '../deps.ts';
import { ALGORITHMS } from './algorithms.ts';
import { loadLibrary } from './library.ts';
import { newNonce, relyingPartyOf } from './relying_party.ts';
import { requestAssertion } from './signature_options.ts';

/** How long somebody has to make a passkey, and to confirm it with an older one. */
const REGISTRATION_SECONDS = 600;
const MS_PER_SECOND = 1000;

export interface RegistrationOptions {
  /** For `navigator.credentials.create`. */
  options: PublicKeyCredentialCreationOptionsJSON;
  /** For `navigator.credentials.get`: an older passkey signs the same challenge. Null for the first passkey. */
  assertionOptions: PublicKeyCredentialRequestOptionsJSON | null;
  expiresAt: Date;
}

function codeIssue(detail: string, reason: string): Fault {
  return new Fault('invalid_request', detail, { issues: [{ pointer: '/code', reason }] });
}

/** The hash of the code that the first passkey rests on; null where an older passkey vouches. */
async function checkCode(
  deps: Deps,
  caller: Caller,
  code: string | undefined,
  older: readonly Passkey[],
): Promise<string | null> {
  if (older.length > 0 && code === undefined) return null;
  if (older.length > 0) {
    throw codeIssue(
      'a further passkey is confirmed with an older one, not with a code. Leave `code` out',
      'is for a first passkey',
    );
  }
  if (code === undefined) {
    throw codeIssue(
      'a first passkey needs a code from an operator (`POST /v1/principals/:id/enrolment-codes`). Send it as `code`',
      'is required for a first passkey',
    );
  }
  const codeHash = sha256Hex(code);
  if (await deps.passkeys.isCodeGood(caller.tenantId, caller.principal, codeHash)) return codeHash;
  throw signatureInvalid(
    'the enrolment code is not yours, was used before, is void or has expired. Ask an operator for a new one',
  );
}

/** A principal's handle with authenticators: the same each time, and it tells nothing. */
function toUserHandle({ tenantId, principal }: Caller): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(sha256Hex(JSON.stringify(['passkey', tenantId, principal])), 'hex'));
}

/**
 * What an authenticator needs to make the caller a passkey.
 * @throws Fault `invalid_request` without a code where one is needed, or with one where none is; `signature_invalid`
 *   for a code that does not stand.
 */
export async function beginRegistration(
  deps: Deps,
  caller: Caller,
  code: string | undefined,
): Promise<RegistrationOptions> {
  const { tenantId, principal } = caller;
  const older = await deps.passkeys.list(tenantId, principal);
  const codeHash = await checkCode(deps, caller, code, older);
  const challenge = newNonce(deps);
  const { generateRegistrationOptions } = await loadLibrary();
  const options = await generateRegistrationOptions({
    rpName: 'Aegis',
    rpID: relyingPartyOf(deps).rpId,
    userID: toUserHandle(caller),
    userName: principal,
    userDisplayName: principal,
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    timeout: REGISTRATION_SECONDS * MS_PER_SECOND,
    attestationType: 'none',
    excludeCredentials: older.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    supportedAlgorithmIDs: [...ALGORITHMS],
  });
  const expiresAt = await deps.passkeys.openChallenge({
    tenantId,
    principal,
    challenge,
    purpose: 'registration',
    approvalId: null,
    statement: null,
    codeHash,
    lifeSeconds: REGISTRATION_SECONDS,
    notAfter: null,
  });
  const assertionOptions = codeHash === null ? await requestAssertion(deps, older, challenge) : null;
  return { options, assertionOptions, expiresAt };
}
