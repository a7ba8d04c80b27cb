import { Webhook } from 'standardwebhooks';

/**
 * The headers by which a receiver knows a message: its id, the same at each attempt, the time of this attempt, and
 * one signature a secret (Standard Webhooks 1.0, "Webhook headers"): whoever knows any of them can verify.
 */
export function signMessage(
  id: string,
  payload: string,
  secrets: readonly string[],
  at: Date,
): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, payload)).join(' '),
  };
}
