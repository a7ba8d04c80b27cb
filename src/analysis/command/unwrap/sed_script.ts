/**
 * Whether a script of `sed` runs nothing: it has no `e` command and no `s///e` (GNU). False too for a script that
 * is not read to its end. Linear.
 */
export function isHarmlessSed(script: string): boolean {
  const reader = { script, at: 0 };
  for (;;) {
    skipBlanks(reader);
    if (reader.at >= script.length) return true;
    if (!skipAddresses(reader) || !skipCommand(reader)) return false;
  }
}

interface Reader {
  script: string;
  at: number;
}

function peek({ script, at }: Reader): string {
  return script.charAt(at);
}

function skipBlanks(reader: Reader): void {
  while (/[\s;]/.test(peek(reader))) reader.at += 1;
}

function skipSpaces(reader: Reader): void {
  while (peek(reader) === ' ' || peek(reader) === '\t') reader.at += 1;
}

/** Addresses: numbers, `$`, `/re/` and `\cREc` with `I` and `M`, joined by `,`, `~` and `+`, then `!`. */
function skipAddresses(reader: Reader): boolean {
  for (;;) {
    skipSpaces(reader);
    const character = peek(reader);
    if (/[0-9$,~+!]/.test(character)) {
      reader.at += 1;
    } else if (character === '/' || character === '\\') {
      if (character === '\\') reader.at += 1;
      if (!skipDelimited(reader, 1)) return false;
      while (/[IM]/.test(peek(reader))) reader.at += 1;
    } else {
      return true;
    }
  }
}

/** A delimiter and as many fields, each ended by it. Inside brackets it is not looked for, which only reads on. */
function skipDelimited(reader: Reader, fields: number): boolean {
  const delimiter = peek(reader);
  if (delimiter === '' || delimiter === '\n' || delimiter === '\\') return false;
  reader.at += 1;
  for (let left = fields; left > 0; reader.at += 1) {
    const character = peek(reader);
    if (character === '') return false;
    if (character === '\\') reader.at += 1;
    else if (character === '[') return skipBracketFree(reader, delimiter, left);
    else if (character === delimiter) left -= 1;
  }
  return true;
}

/** With brackets, implementations differ on where a field ends: only scripts that end alike either way are read. */
function skipBracketFree(reader: Reader, delimiter: string, fields: number): boolean {
  for (let left = fields; left > 0; reader.at += 1) {
    const character = peek(reader);
    if (character === '') return false;
    if (character === '\\') {
      reader.at += 1;
    } else if (character === '[') {
      const end = bracketEnd(reader);
      if (end === null || reader.script.slice(reader.at, end).includes(delimiter)) return false;
      reader.at = end;
    } else if (character === delimiter) {
      left -= 1;
    }
  }
  return true;
}

/** The index of the `]` that ends a bracket expression; a first `]` does not. */
function bracketEnd({ script, at }: Reader): number | null {
  let from = at + 1;
  if (script[from] === '^') from += 1;
  const end = script.indexOf(']', script[from] === ']' ? from + 1 : from);
  return end === -1 ? null : end;
}

function skipLine(reader: Reader): void {
  const newline = reader.script.indexOf('\n', reader.at);
  reader.at = newline === -1 ? reader.script.length : newline;
}

function skipCommand(reader: Reader): boolean {
  const command = peek(reader);
  reader.at += 1;
  if (command === '') return true;
  if ('{}=dDgGhHnNpPxzF'.includes(command)) return true;
  if ('qQlL'.includes(command)) return skipNumber(reader);
  if (command === 's') return skipDelimited(reader, 2) && skipFlags(reader);
  if (command === 'y') return skipDelimited(reader, 2);
  if (command === '#' || 'rRwW'.includes(command)) {
    skipLine(reader);
    return true;
  }
  if (':btTv'.includes(command)) {
    while (!/[\n;}]/.test(peek(reader) || '\n')) reader.at += 1;
    return true;
  }
  if ('aic'.includes(command)) return skipText(reader);
  return false;
}

function skipNumber(reader: Reader): boolean {
  skipSpaces(reader);
  while (/[0-9]/.test(peek(reader))) reader.at += 1;
  return true;
}

/** Flags of `s`: `w` takes the rest of the line, `e` runs what was put in. */
function skipFlags(reader: Reader): boolean {
  while (/[gpiImM0-9]/.test(peek(reader))) reader.at += 1;
  if (peek(reader) === 'w') skipLine(reader);
  return /^[\s;}]?$/.test(peek(reader));
}

/** The text of `a`, `i` and `c`: to the end of the line, and on after each backslash. */
function skipText(reader: Reader): boolean {
  while (reader.at < reader.script.length && peek(reader) !== '\n') {
    if (peek(reader) === '\\') reader.at += 1;
    reader.at += 1;
  }
  return true;
}
