import type { Caller } from '../../core/caller.ts';
import { Fault } from '../../core/fault.ts';
import {
  type AssertionResponse,
  type AttestationResponse,
  type Challenge,
  challengeSpent,
  type Passkey,
  passkeyRefused,
  signatureInvalid,
  type Voucher,
} from '../../core/webauthn_ports.ts';
import type { Deps } from '../deps.ts';
import { readClientData } from './client_data.ts';
import { relyingPartyOf } from './relying_party.ts';
import { verifyAssertion } from './verify_assertion.ts';
import { verifyAttestation } from './verify_attestation.ts';

export interface RegistrationInput {
  registration: AttestationResponse;
  /** By an older passkey, over the same challenge; for every passkey but the first. */
  assertion: AssertionResponse | undefined;
  label: string | undefined;
}

async function findVoucher(
  deps: Deps,
  caller: Caller,
  { challenge, codeHash }: Challenge,
  assertion: AssertionResponse | undefined,
): Promise<Voucher> {
  if (codeHash !== null) return { kind: 'code', codeHash };
  if (assertion === undefined) {
    throw new Fault(
      'signature_required',
      'a further passkey is confirmed with an older one. Sign `assertion_options` with it and send the answer as `assertion`',
    );
  }
  const older = await deps.passkeys.list(caller.tenantId, caller.principal);
  const passkey = older.find(({ credentialId }) => credentialId === assertion.id);
  if (passkey === undefined || assertion.rawId !== assertion.id) throw passkeyRefused();
  const { clientDataJSON: clientDataJson, authenticatorData, signature } = assertion.response;
  const verdict = await verifyAssertion(
    { credentialId: assertion.id, clientDataJson, authenticatorData, signature },
    { challenge, party: relyingPartyOf(deps), publicKey: passkey.publicKey, counter: passkey.counter },
  );
  if (verdict.kind === 'verified') {
    return { kind: 'passkey', credentialId: passkey.credentialId, counter: verdict.counter };
  }
  throw signatureInvalid(`the older passkey's signature is refused: ${verdict.reason}. Get new options`);
}

/**
 * Keeps the caller's new passkey, once both it and what vouches for it were verified.
 * @throws Fault `signature_required` for a further one without an older one's assertion; `signature_invalid`.
 */
export async function finishRegistration(
  deps: Deps,
  caller: Caller,
  input: RegistrationInput,
): Promise<Passkey> {
  const { registration, assertion, label } = input;
  const { tenantId, principal } = caller;
  const said = readClientData(registration.response.clientDataJSON)?.challenge;
  const given = said === undefined ? undefined : await deps.passkeys.findChallenge(tenantId, principal, said);
  if (given === undefined || given.purpose !== 'registration') throw challengeSpent();
  const party = relyingPartyOf(deps);
  const passkey = await verifyAttestation(registration, given.challenge, party, label ?? null);
  if (passkey === undefined) {
    throw signatureInvalid(
      `the passkey is refused: it must be made for \`${party.rpId}\` on a page of \`${party.origin}\`, verify its user, and come without certificates. Get new options and make it anew`,
    );
  }
  const voucher = await findVoucher(deps, caller, given, assertion);
  return deps.passkeys.register(caller, given.challenge, voucher, passkey);
}
