import * as z from 'zod';
import { BASE64URL } from '../../core/webauthn_responses.ts';

/** What a browser says of the page that asked for a signature (Web Authentication Level 3 §5.8.1). */
interface ClientData {
  challenge: string;
  origin: string;
  /** Whether the page stood in a frame of another origin. */
  isCrossOrigin: boolean;
}

const clientDataSchema = z.object({
  challenge: z.string().regex(BASE64URL),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
});

/** The client data in a response, in base64url; undefined for what is none. Nothing of it is verified yet. */
export function readClientData(clientDataJson: string): ClientData | undefined {
  try {
    const read = clientDataSchema.parse(
      JSON.parse(Buffer.from(clientDataJson, 'base64url').toString('utf8')),
    );
    return { challenge: read.challenge, origin: read.origin, isCrossOrigin: read.crossOrigin === true };
  } catch {
    return undefined;
  }
}
