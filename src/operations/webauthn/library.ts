/**
 * The library of passkeys, read when the first is used: it reads certificates as well, which takes a good part of a
 * second, and most processes never need it.
 */
export async function loadLibrary() {
  const [server, { decodeAttestationObject }] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ]);
  return { ...server, decodeAttestationObject };
}
