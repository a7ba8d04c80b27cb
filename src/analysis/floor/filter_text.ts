import { decodeEscapes } from './decode_escapes.ts';
import { UNKNOWN } from './marks.ts';

/** Text of base64 as bytes, one character each; null when it is none. */
export function decodeBase64(text: string): string | null {
  const clean = text
    .replaceAll(/[^A-Za-z0-9+/_-]/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  // One character over a multiple of four holds no byte.
  const whole = clean.length % 4 === 1 ? clean.slice(0, -1) : clean;
  return whole === '' ? null : atob(whole);
}

function decodeHex(text: string): string | null {
  const digits = text.replaceAll(/\\x|0x|[^0-9A-Fa-f]/g, '');
  let decoded = '';
  for (let at = 0; at + 1 < digits.length; at += 2) {
    decoded += String.fromCharCode(Number.parseInt(digits.slice(at, at + 2), 16));
  }
  return decoded === '' ? null : decoded;
}

const SET_LENGTH_MAX = 512;

/** The characters of a set of `tr`, ranges written out. */
function charactersOf(set: string): string[] {
  const characters: string[] = [];
  for (let at = 0; at < set.length && characters.length < SET_LENGTH_MAX; at += 1) {
    const first = set.charCodeAt(at);
    const last = set.charAt(at + 1) === '-' && at + 2 < set.length ? set.charCodeAt(at + 2) : first;
    for (let code = first; code <= last && characters.length < SET_LENGTH_MAX; code += 1) {
      characters.push(String.fromCharCode(code));
    }
    if (last !== first || set.charAt(at + 1) === '-') at += at + 2 < set.length ? 2 : 0;
  }
  return characters;
}

function translate(text: string, args: readonly string[]): string | null {
  const [from, to] = args;
  if (from === undefined || from.startsWith('[:')) return null;
  if (/^-[cCst]/.test(from)) return null;
  if (from === '-d') {
    const deleted = new Set(charactersOf(decodeEscapes(to ?? '')));
    return [...text].filter((letter) => !deleted.has(letter)).join('');
  }
  if (to === undefined) return null;
  const targets = charactersOf(decodeEscapes(to));
  const map = new Map(
    charactersOf(decodeEscapes(from)).map((letter, index) => [
      letter,
      targets[index] ?? targets.at(-1) ?? '',
    ]),
  );
  return [...text].map((letter) => map.get(letter) ?? letter).join('');
}

const DECODES = /^(-[a-zA-Z]*[dD][a-zA-Z]*|--decode|--dec?o?d?)$/;

/** What a filter makes of known text; null where that is not known. */
export function filterText(name: string, args: readonly string[], text: string): string | null {
  switch (name) {
    case 'cat':
    case 'tee':
    case 'sponge':
    case 'head':
    case 'tail':
    case 'sort':
    case 'uniq':
      return text;
    case 'rev':
      return text
        .split('\n')
        .map((line) => [...line].reverse().join(''))
        .join('\n');
    case 'tac':
      return text.split('\n').reverse().join('\n');
    case 'tr':
      return translate(text, args);
    case 'base64':
    case 'gbase64':
      return args.some((arg) => DECODES.test(arg)) ? decodeBase64(text) : null;
    case 'openssl':
      return args.some((arg) => /^-?base64$|^-a$/.test(arg)) && args.includes('-d')
        ? decodeBase64(text)
        : null;
    case 'xxd':
      return args.some((arg) => /^-[a-z]*r/.test(arg)) ? decodeHex(text) : null;
    default:
      return null;
  }
}

/**
 * What `echo` prints. Without an option some shells decode escapes and others do not: where that differs, both.
 */
export function echoText(args: readonly string[]): string {
  let from = 0;
  let options = '';
  while (/^-[neE]+$/.test(args[from] ?? '')) {
    options += args[from];
    from += 1;
  }
  const text = args.slice(from).join(' ');
  if (options.includes('e')) return `${decodeEscapes(text)}\n`;
  const decoded = options.includes('E') ? text : decodeEscapes(text);
  return decoded === text ? `${text}\n` : `${text}\n${decoded}\n`;
}

/** How often a format is used again for arguments that are left. */
const REPEATS_MAX = 1000;

/** What `printf` prints, as far as strings go (POSIX XCU printf). */
export function printfText(args: readonly string[]): string {
  const start = args[0] === '--' ? 1 : 0;
  const format = decodeEscapes(args[start] ?? '');
  const values = args.slice(start + 1);
  let used = 0;
  let text = '';
  let repeats = 0;
  do {
    const before = used;
    text += format.replaceAll(/%(?:%|[-0-9.# +]{0,8}[a-zA-Z])/g, (directive) => {
      if (directive === '%%') return '%';
      const value = values[used] ?? '';
      used += 1;
      return directive.endsWith('b') ? decodeEscapes(value) : value;
    });
    repeats += 1;
    if (used === before) break;
  } while (used < values.length && repeats < REPEATS_MAX);
  return used < values.length && repeats >= REPEATS_MAX ? text + UNKNOWN : text;
}
