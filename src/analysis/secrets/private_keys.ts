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
 * Private keys: PEM, OpenSSH, PGP and SSH.COM blocks, whole, whatever stands for their line breaks; PuTTY files; and keys without their first line, by what their base64 begins with.
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

/**
 * After the last dash of the block's `END` line, or of the next block's begin; where what stands between is no key, or
 * nothing ends it, at the end of what can be one. A first line alone hides nothing: an agent may write one to hide by.
 */
function endOfBlock(text: string, from: number): number {
  const closing = /KEY(?: BLOCK)?\s?-{3,}/gi;
  const body = skipDashes(text, from);
  closing.lastIndex = body;
  const found = closing.exec(text);
  const bodyEnd = endOfBody(text, body);
  if (found === null) return bodyEnd;
  const end = found.index + found[0].length;
  return isWordALine(text.slice(body, found.index)) ? end : Math.min(end, bodyEnd);
}

/** Whether each line is one word, however short: then it may be a key, and could run nothing with words after it. */
function isWordALine(body: string): boolean {
  return body
    .split(/\r?\n/)
    .every((line) => /^[A-Za-z0-9+/=_-]*$|^-+(?:END|BEGIN)[A-Z0-9 _-]*$/.test(line.trim()));
}

/** A word of a key in text form: base64, broken at any width, and what stands around it in lists and literals. */
const BODY_WORD = /(?:\s|\\[nrt]|["'`,+])*([A-Za-z0-9+/=]+|-+(?:END|BEGIN)[A-Z0-9 _-]{0,64}-*)/y;
/** Header lines at the start of a block (RFC 1421 §4.6, RFC 4880 §6.2, RFC 4716 §3.3). */
const HEADER_LINE = /(?:\s|\\[nr])*[A-Za-z][A-Za-z-]{2,30}: [^\r\n\\]{1,200}/y;
const HEADER_LINES_MAX = 5;
/** Base64 this long is no word of a language; the last of a key may be shorter. */
const BODY_WORD_CHARACTERS = 20;

/** The end of what can be a key's body: headers, long base64, one short word that ends it, and its `END` line. */
function endOfBody(text: string, from: number): number {
  let at = from;
  for (let headers = 0; headers < HEADER_LINES_MAX; headers += 1) {
    HEADER_LINE.lastIndex = at;
    if (!HEADER_LINE.test(text)) break;
    at = HEADER_LINE.lastIndex;
  }
  for (;;) {
    BODY_WORD.lastIndex = at;
    const found = BODY_WORD.exec(text);
    if (found === null) return at;
    const word = found[1] ?? '';
    const isShort = !word.startsWith('-') && word.length < BODY_WORD_CHARACTERS;
    // A short word is the key's last where its end follows; else it may be any word.
    if (isShort) return endOfClosing(text, BODY_WORD.lastIndex) ?? at;
    at = BODY_WORD.lastIndex;
  }
}

/** After the `END` line that follows at once, or the end of the text; undefined where neither does. */
function endOfClosing(text: string, from: number): number | undefined {
  const closing = /(?:\s|\\[nrt]|["'`,+])*(?:-+END[A-Z0-9 _-]{0,64}-*|$)/iy;
  closing.lastIndex = from;
  return closing.test(text) ? closing.lastIndex : undefined;
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
