import { isLetterAt } from './characters.ts';
import type { Detector, Finding } from './finding.ts';

/** How far before `PRIVATE KEY` the dashes and the word `BEGIN` of its line can stand (RFC 7468 §2, RFC 4880 §6.2). */
const BEGIN_CHARACTERS = 112;

/**
 * Characters of base64 that only private keys have: where version and algorithm of PKCS#8 (RFC 5958) meet, the openings
 * of PKCS#1 (RFC 8017 A.1.2) and SEC 1 (RFC 5915), and the magic word of OpenSSH's format. Case counts.
 */
const BARE_OPENINGS = [
  'IBADANBgkqhkiG9w0BAQEFAAS',
  'AgEAMBMGByqGSM49AgEGCCqGSM49AwEHB',
  'AgEAMBAGByqGSM49AgEGBSuBBAA',
  'MC4CAQAwBQYDK2V',
  'MEcCAQAwBQYDK2V',
  'IBAAKCAQEA',
  'IBAAKCAgEA',
  'IBAAKBgQ',
  'MHcCAQEEI',
  'MIGkAgEBBDA',
  'b3BlbnNzaC1rZXktdjE',
];

/** Fewest base64 characters after an opening for it to be a key. */
const BARE_CHARACTERS = 32;

/**
 * Private keys: PEM, OpenSSH, PGP and SSH.COM blocks, whole, to the end of the text when theirs is missing and whatever
 * stands for their line breaks; PuTTY files; and keys without their first line, by what their base64 begins with.
 */
export const PRIVATE_KEY_DETECTORS: readonly Detector[] = [
  { keywords: ['private key'], find: findBlock },
  {
    keywords: ['putty-user-key-file-'],
    find: (text, start) => ({ start, end: text.length, isPrivateKey: true }),
  },
  ...BARE_OPENINGS.map((opening) => ({
    keywords: [opening.toLowerCase()],
    find: (text: string, start: number, end: number) => findBare(text, start, end, opening),
  })),
];

function findBlock(text: string, start: number, end: number): Finding | undefined {
  const first = Math.max(0, start - BEGIN_CHARACTERS);
  const opening = /-\s*BEGIN[ A-Z0-9_-]*$/i.exec(text.slice(first, start));
  if (opening === null) return undefined;
  let begin = first + opening.index;
  while (begin > 0 && text[begin - 1] === '-') begin -= 1;
  return { start: begin, end: endOfBlock(text, end), isPrivateKey: true };
}

/** After the last dash of the block's `END` line, or of the next block's begin; else the end of the text. */
function endOfBlock(text: string, from: number): number {
  const closing = /KEY(?: BLOCK)?\s?-{3,}/gi;
  closing.lastIndex = skipDashes(text, from);
  const found = closing.exec(text);
  return found === null ? text.length : found.index + found[0].length;
}

/** Past the rest of the first line, whose own dashes end nothing. */
function skipDashes(text: string, from: number): number {
  const rest = /^(?: BLOCK)?[\s-]*/i.exec(text.slice(from, from + 32));
  return from + (rest?.[0].length ?? 0);
}

function findBare(text: string, start: number, end: number, opening: string): Finding | undefined {
  if (text.slice(start, end) !== opening) return undefined;
  const last = skipBase64(text, end);
  if (last - end < BARE_CHARACTERS) return undefined;
  let first = start;
  while (first > 0 && start - first < 16 && isBase64At(text, first - 1)) first -= 1;
  return { start: first, end: last, isPrivateKey: true };
}

/** Past base64 in lines, whether they are broken by line breaks or by their escapes. */
function skipBase64(text: string, from: number): number {
  let at = from;
  for (;;) {
    while (isBase64At(text, at)) at += 1;
    const isBreak = text[at] === '\n' || text[at] === '\r' || /^\\[nr]/.test(text.slice(at, at + 2));
    const after = at + (text[at] === '\\' ? 2 : 1);
    if (!isBreak || !(isBase64At(text, after) || text[after] === '\n' || text[after] === '\\')) return at;
    at = after;
  }
}

function isBase64At(text: string, at: number): boolean {
  const character = text.charAt(at);
  return (
    isLetterAt(text, at) ||
    (character >= '0' && character <= '9') ||
    (character !== '' && '+/='.includes(character))
  );
}
