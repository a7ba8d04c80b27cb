const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1B',
  E: '\x1B',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const ESCAPE = /\\(?:x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|0?[0-7]{1,3}|[\s\S])/g;

function decodeOne(escaped: string): string {
  const letter = escaped.charAt(1);
  const rest = escaped.slice(2);
  if (/[xuU]/.test(letter) && rest !== '') {
    const code = Number.parseInt(rest, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '';
  }
  if (/[0-7]/.test(letter)) return String.fromCharCode(Number.parseInt(escaped.slice(1), 8) % 256);
  return SIMPLE[letter] ?? letter;
}

/** Text with the backslash escapes decoded that `printf`, `echo -e`, `$'…'` and most languages share. */
export function decodeEscapes(text: string): string {
  return text.includes('\\') ? text.replaceAll(ESCAPE, decodeOne) : text;
}
