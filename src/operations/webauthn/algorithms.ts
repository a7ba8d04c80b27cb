/** What passkeys may sign with (IANA COSE Algorithms): EdDSA, ES256, RS256. All of today's authenticators have one. */
export const ALGORITHMS: readonly number[] = [-8, -7, -257];
