import { createHmac, timingSafeEqual } from 'node:crypto';

/** How far the time of a request may be from ours, either way. */
const SKEW_MS_MAX = 5 * 60_000;
const TIMESTAMP = /^[1-9][0-9]{0,11}$/;
const SIGNATURE = /^v0=([0-9a-f]{64})$/;

export interface SlackSignature {
  /** As the header has it: seconds since 1970. */
  timestamp: string;
  /** The HMAC's bytes. */
  digest: Buffer;
}

/**
 * The signature of a request from Slack, by its headers alone; undefined when one is missing, has another form, or its
 * time is more than five minutes from `now`.
 */
export function readSlackSignature(headers: Headers, now: Date): SlackSignature | undefined {
  const timestamp = headers.get('x-slack-request-timestamp') ?? '';
  const digest = SIGNATURE.exec(headers.get('x-slack-signature') ?? '')?.[1];
  if (digest === undefined || !TIMESTAMP.test(timestamp)) return undefined;
  if (Math.abs(now.getTime() - Number(timestamp) * 1000) > SKEW_MS_MAX) return undefined;
  return { timestamp, digest: Buffer.from(digest, 'hex') };
}

/** Whether Slack signed exactly these bytes at that time: HMAC-SHA-256 of `v0:<timestamp>:<body>`, in constant time. */
export function isSignedBySlack(signature: SlackSignature, body: Uint8Array, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(`v0:${signature.timestamp}:`).update(body).digest();
  return timingSafeEqual(expected, signature.digest);
}
