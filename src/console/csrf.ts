import { createHmac, timingSafeEqual } from 'node:crypto';
import { Fault } from '../core/fault.ts';

/** The form's field that holds the token. */
export const CSRF_FIELD = 'csrf';

/** The token of all forms under one cookie: who cannot read the cookie cannot make it, and it does not tell the cookie. */
export function computeCsrfToken(cookieSecret: string): string {
  return createHmac('sha256', cookieSecret).update('aegis-console-csrf-1').digest('hex');
}

/** @throws Fault `forbidden` unless the form's token is that of the cookie. */
export function assertCsrfToken(cookieSecret: string, given: string | undefined): void {
  const expected = Buffer.from(computeCsrfToken(cookieSecret));
  const sent = Buffer.from(given ?? '');
  if (sent.length === expected.length && timingSafeEqual(sent, expected)) return;
  throw new Fault(
    'forbidden',
    'this form is not one of your session, or is too old. Load the page again, then send it anew',
  );
}
