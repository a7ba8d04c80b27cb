import * as z from 'zod';

// What browsers answer for an authenticator, as `PublicKeyCredential.toJSON()` writes it (Web Authentication Level 3
// §5.1). What is read here is of the right shape; nothing of it is verified.

/** 1023 bytes ("Credential ID", §4). */
const CREDENTIAL_ID_MAX = 1364;
const CLIENT_DATA_MAX = 8192;
const AUTHENTICATOR_DATA_MAX = 16_384;
const SIGNATURE_MAX = 8192;
const USER_HANDLE_MAX = 128;

/** Bytes in base64url without padding (RFC 4648 §5). */
export const BASE64URL = /^[A-Za-z0-9_-]+$/;

function base64url(max: number) {
  return z.string().min(1).max(max).regex(BASE64URL, 'must be base64url without padding');
}

const credential = {
  id: base64url(CREDENTIAL_ID_MAX),
  rawId: base64url(CREDENTIAL_ID_MAX),
  type: z.literal('public-key'),
  authenticatorAttachment: z.string().max(32).nullish(),
  clientExtensionResults: z.record(z.string(), z.unknown()).nullish(),
};

/** What `navigator.credentials.get` answers. */
export const assertionResponse = z
  .strictObject({
    ...credential,
    response: z.strictObject({
      clientDataJSON: base64url(CLIENT_DATA_MAX),
      authenticatorData: base64url(AUTHENTICATOR_DATA_MAX),
      signature: base64url(SIGNATURE_MAX),
      userHandle: base64url(USER_HANDLE_MAX).nullish(),
    }),
  })
  .meta({
    id: 'AuthenticationResponse',
    description: 'what `navigator.credentials.get` answers, as `PublicKeyCredential.toJSON()` writes it',
  });

/** What `navigator.credentials.create` answers. */
export const attestationResponse = z
  .strictObject({
    ...credential,
    response: z.strictObject({
      clientDataJSON: base64url(CLIENT_DATA_MAX),
      attestationObject: base64url(AUTHENTICATOR_DATA_MAX),
      transports: z
        .array(z.string().regex(/^[a-z0-9-]{1,32}$/))
        .max(16)
        .nullish(),
      authenticatorData: base64url(AUTHENTICATOR_DATA_MAX).nullish(),
      publicKey: base64url(AUTHENTICATOR_DATA_MAX).nullish(),
      publicKeyAlgorithm: z.int().nullish(),
    }),
  })
  .meta({
    id: 'RegistrationResponse',
    description: 'what `navigator.credentials.create` answers, as `PublicKeyCredential.toJSON()` writes it',
  });
