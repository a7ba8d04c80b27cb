/** RFC 4648 §4 with its padding, and nothing else: no line breaks, no spaces, no URL alphabet. */
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

const UTF_16LE = new TextDecoder('utf-16le', { fatal: true, ignoreBOM: true });

/**
 * The script of `powershell -EncodedCommand`: base64 of UTF-16LE. Null when the text is no such thing: other
 * characters, wrong padding, an odd number of bytes, an unpaired surrogate. What is null must count as not understood.
 */
export function decodeEncodedCommand(base64: string): string | null {
  if (base64.length % 4 !== 0 || !BASE64.test(base64)) return null;
  const bytes = Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0));
  if (bytes.length % 2 !== 0) return null;
  try {
    return UTF_16LE.decode(bytes);
  } catch {
    return null;
  }
}
