import * as z from 'zod';
import type { Passkey } from '../../core/webauthn_ports.ts';
import { instant } from './common.ts';

/** The signature of a signed vote, with all that it takes to verify it elsewhere. */
export const voteSignatureOutput = z
  .strictObject({
    statement: z
      .string()
      .meta({ description: 'canonical JSON; its SHA-256 is the challenge that was signed' }),
    credential_id: z.string(),
    public_key: z.string().meta({ description: 'COSE key (RFC 9053 §7)' }),
    client_data_json: z.string(),
    authenticator_data: z.string(),
    signature: z.string(),
    rp_id: z.string(),
    origin: z.string(),
  })
  .meta({
    id: 'VoteSignature',
    description: 'binary members are base64url; `aegis verify-vote` verifies it',
  });

export const passkeyOutput = z
  .strictObject({
    credential_id: z.string(),
    principal: z.string(),
    label: z.string().nullable(),
    transports: z.array(z.string()),
    backed_up: z.boolean(),
    created_at: instant,
    last_used_at: instant.nullable(),
  })
  .meta({ id: 'Passkey' });

export function toWirePasskey(passkey: Passkey): z.input<typeof passkeyOutput> {
  return {
    credential_id: passkey.credentialId,
    principal: passkey.principal,
    label: passkey.label,
    transports: passkey.transports,
    backed_up: passkey.isBackedUp,
    created_at: passkey.createdAt.toISOString(),
    last_used_at: passkey.lastUsedAt?.toISOString() ?? null,
  };
}
