import { SOME, UNKNOWN } from './marks.ts';

type ExpandText = (text: string) => string[];

const PARAMETER = /^\$\{([!#]?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])/;

function isKnown(value: string): boolean {
  return value !== UNKNOWN && value !== '';
}

/** `${NAME:-word}`: the value, or the word where there is none. */
function orElse(values: readonly string[], word: string, expand: ExpandText): string[] {
  const known = values.filter(isKnown);
  if (known.length === values.length) return known;
  const stands = values.includes(UNKNOWN) ? [SOME] : [];
  return [...known, ...stands, ...expand(word)];
}

/** `${NAME:offset:length}` of a value. */
function substring(value: string, bounds: string): string {
  const [, offset, length] = /^\s*(-?\d+)\s*(?::\s*(\d+)\s*)?$/.exec(bounds) ?? [];
  if (offset === undefined || value === UNKNOWN || value === SOME) return UNKNOWN;
  const from = Number(offset);
  const start = from < 0 ? Math.max(0, value.length + from) : from;
  return length === undefined ? value.slice(start) : value.slice(start, start + Number(length));
}

function transformed(values: readonly string[], rest: string): string[] {
  const operator = rest.charAt(0);
  if (/^\[[@*]\]$/.test(rest)) return [...values];
  if (operator === '^') return values.map((value) => value.toUpperCase());
  if (operator === ',') return values.map((value) => value.toLowerCase());
  if (operator === '@') return [...values];
  // Cutting a slash off the end leaves a folder what it is; what else is cut may leave nothing, or the folder.
  const isCut = operator === '%' || operator === '#';
  if (isCut && /^%{1,2}\/$/.test(rest)) return values.map((value) => (value === '/' ? '' : value));
  return isCut ? [UNKNOWN, ...values] : [UNKNOWN];
}

/**
 * What a parameter expansion with an operator may yield (POSIX XCU 2.6.2, and the commonest of bash), from the values
 * that the variable may have.
 */
export function expandParameter(text: string, values: readonly string[], expand: ExpandText): string[] {
  const found = PARAMETER.exec(text);
  if (found === null) return [UNKNOWN];
  const [whole, prefix] = found;
  const rest = text.endsWith('}') ? text.slice(whole.length, -1) : text.slice(whole.length);
  if (prefix === '#') return [SOME];
  if (prefix === '!') return [UNKNOWN];
  if (rest === '') return [...values];
  const [, operator, word] = /^(:?[-=?+])([\s\S]*)$/.exec(rest) ?? [];
  if (operator === undefined || word === undefined) {
    if (rest.startsWith(':')) return values.map((value) => substring(value, rest.slice(1)));
    return transformed(values, rest);
  }
  if (operator.endsWith('?')) return values.map((value) => (value === UNKNOWN ? SOME : value));
  if (operator.endsWith('+')) return values.some(isKnown) ? expand(word) : ['', ...expand(word)];
  return orElse(values, word, expand);
}
