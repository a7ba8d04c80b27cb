import { describe, expect, test } from 'vitest';
import { createMasker } from '../../../src/analysis/secrets/masker.ts';
import { scrub } from '../../../src/analysis/secrets/scrub.ts';

const masker = createMasker('a key');
const scrubbed = (bytes: Uint8Array | string) => {
  const { verdict, bytes: left } = scrub(Buffer.from(bytes as string), masker);
  return { verdict, text: Buffer.from(left).toString('latin1'), bytes: left };
};
const BODY = 'MHcCAQEEIFakeFakeFakeFakeFakeFakeFakeFakeFakeFakeFakeoAoGCCqGSM49'.repeat(2);
const block = (name: string, lines = `\n${BODY}\n`) => `-----BEGIN ${name}-----${lines}-----END ${name}-----`;

describe('the output of a command', () => {
  test('without secrets comes out byte for byte', () => {
    expect(scrubbed('total 4\n\tdone\r\n')).toMatchObject({ verdict: 'clean', text: 'total 4\n\tdone\r\n' });
    expect(scrubbed('')).toMatchObject({ verdict: 'clean', text: '' });
  });

  test('that is not UTF-8 keeps its other bytes, and loses its secrets all the same', () => {
    const before = Uint8Array.of(0xff, 0xfe, 0x00, 0x80, 0x1b, 0xe2, 0x28);
    expect(scrubbed(before)).toEqual({
      verdict: 'clean',
      text: expect.any(String),
      bytes: Buffer.from(before),
    });
    const { verdict, bytes } = scrub(
      Buffer.concat([before, Buffer.from('password="hunter2a"'), before]),
      masker,
    );
    expect(verdict).toBe('redacted');
    expect(Buffer.from(bytes).subarray(0, before.length)).toEqual(Buffer.from(before));
    expect(Buffer.from(bytes).subarray(-before.length)).toEqual(Buffer.from(before));
    expect(Buffer.from(bytes).toString('latin1')).not.toContain('hunter2a');
  });

  test('loses control sequences, zero-width and bidi characters, and then the secrets that they split', () => {
    expect(scrubbed('a\u200bb\u202ec\u0007d')).toMatchObject({ verdict: 'redacted', text: 'abcd' });
    expect(scrubbed('\u001b[31mred\u001b[0m')).toMatchObject({ verdict: 'redacted', text: 'red' });
    const split = scrubbed('pass\u200bword="hun\u001b[1mter2a"');
    expect(split.text).toMatch(/^password="\(secret [0-9a-f]{8}\)"$/);
  });

  test.each([
    ['a PKCS#8 block', block('PRIVATE KEY')],
    ['an encrypted block', block('ENCRYPTED PRIVATE KEY')],
    ['an RSA block', block('RSA PRIVATE KEY')],
    ['an OpenSSH block', block('OPENSSH PRIVATE KEY')],
    ['a PGP block', block('PGP PRIVATE KEY BLOCK')],
    ['a block in one line', block('EC PRIVATE KEY', BODY)],
    ['a block with escaped line breaks', block('PRIVATE KEY', `\\n${BODY}\\n`)],
    ['a block in lower case', block('PRIVATE KEY').toLowerCase()],
    ['a block without an end', block('PRIVATE KEY').slice(0, 60)],
    ['a block split by a zero-width character', block('PRI\u200bVATE KEY')],
    ['bare PKCS#8', `MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj${BODY}`],
    ['bare OpenSSH', `b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ${BODY}`],
    ['bare SEC 1', `MHcCAQEEI${BODY}`],
    ['a PuTTY file', 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none'],
  ])('with %s in it is withheld whole', (_, key) => {
    expect(scrubbed(`before\n${key}\nafter`)).toMatchObject({ verdict: 'blocked', text: '' });
    const broken = Buffer.concat([Buffer.from([0xff]), Buffer.from(key.replaceAll('\u200b', ''))]);
    expect(scrub(broken, masker).verdict).toBe('blocked');
  });

  test('with a public key or the words alone is not withheld', () => {
    for (const text of [
      block('PUBLIC KEY', '\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n'),
      block('CERTIFICATE', '\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQ\n'),
      'keep your private key private',
      'ssh-ed25519 AAAAC3Nza bob',
    ]) {
      expect(scrubbed(text).verdict).not.toBe('blocked');
    }
  });
});
