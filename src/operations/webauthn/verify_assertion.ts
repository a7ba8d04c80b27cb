import { readClientData } from './client_data.ts';
import { loadLibrary } from './library.ts';
import type { RelyingParty } from './relying_party.ts';

/** What an authenticator answered, in base64url. */
export interface Assertion {
  credentialId: string;
  clientDataJson: string;
  authenticatorData: string;
  signature: string;
}

/** What it has to be an answer to, and whose. */
export interface ExpectedAssertion {
  /** base64url. */
  challenge: string;
  party: RelyingParty;
  /** COSE key (RFC 9053 §7) in base64url. */
  publicKey: string;
  /** The counter as last seen; this use must count further, unless the authenticator does not count. */
  counter: number;
}

export type AssertionVerdict = { kind: 'verified'; counter: number } | { kind: 'refused'; reason: string };

function refused(reason: string): AssertionVerdict {
  return { kind: 'refused', reason };
}

/**
 * Verifies an assertion (Web Authentication Level 3 §7.2): over exactly this challenge, made for this relying party on
 * a page of its own, by this key, by a user whom the authenticator verified. Never throws: what cannot be read is
 * refused.
 */
export async function verifyAssertion(
  assertion: Assertion,
  expected: ExpectedAssertion,
): Promise<AssertionVerdict> {
  const { credentialId: id, clientDataJson: clientDataJSON, authenticatorData, signature } = assertion;
  const { challenge, party, publicKey, counter } = expected;
  const clientData = readClientData(clientDataJSON);
  if (clientData?.challenge !== challenge) return refused('something else was signed');
  if (clientData.origin !== party.origin || clientData.isCrossOrigin) {
    return refused(`it was not made on a page of \`${party.origin}\``);
  }
  const { verifyAuthenticationResponse } = await loadLibrary();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id,
        rawId: id,
        type: 'public-key',
        response: { clientDataJSON, authenticatorData, signature },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.rpId,
      credential: { id, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter },
      requireUserVerification: true,
    });
    if (!verified) return refused('it does not verify with the passkey');
    return { kind: 'verified', counter: authenticationInfo.newCounter };
  } catch {
    return refused(
      'the user was not verified, the counter went back, or it is no assertion of this passkey for this service',
    );
  }
}
