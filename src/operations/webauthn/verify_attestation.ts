import type { AttestationResponse, NewPasskey } from '../../core/webauthn_ports.ts';
import { ALGORITHMS } from './algorithms.ts';
import { readClientData } from './client_data.ts';
import { loadLibrary } from './library.ts';
import type { RelyingParty } from './relying_party.ts';

/**
 * Whether an authenticator says nothing of its make, or vouches for itself. Certificates were not asked for, and are
 * not looked at: following them would mean calls to addresses that they name.
 */
function isWithoutCertificates(
  { decodeAttestationObject }: Awaited<ReturnType<typeof loadLibrary>>,
  attestationObject: string,
): boolean {
  const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
  const format = decoded.get('fmt');
  return format === 'none' || (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined);
}

/**
 * Verifies a new passkey (Web Authentication Level 3 §7.1): made for this challenge and this relying party on a page
 * of its own, by a user whom the authenticator verified. Undefined for what is refused; never throws.
 */
export async function verifyAttestation(
  attestation: AttestationResponse,
  challenge: string,
  party: RelyingParty,
  label: string | null,
): Promise<NewPasskey | undefined> {
  const { id, rawId, response } = attestation;
  const { clientDataJSON, attestationObject } = response;
  const library = await loadLibrary();
  try {
    if (readClientData(clientDataJSON)?.isCrossOrigin !== false) return undefined;
    if (!isWithoutCertificates(library, attestationObject)) return undefined;
    const { verified, registrationInfo } = await library.verifyRegistrationResponse({
      response: {
        id,
        rawId,
        type: 'public-key',
        response: { clientDataJSON, attestationObject },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
    if (!verified || registrationInfo.credential.id !== id) return undefined;
    const { credential, credentialBackedUp } = registrationInfo;
    return {
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      transports: [...(response.transports ?? [])],
      isBackedUp: credentialBackedUp,
      label,
    };
  } catch {
    return undefined;
  }
}
