/**
 * Whether the canonical form of `value` (RFC 8785 §3.2.2.3, which is ECMAScript's `String(value)`) denotes
 * exactly the number that `text`, a number of JSON's grammar, denotes. `value` must be `Number(text)`.
 *
 * `0.10`, `1e2` and `-0` are exact; `9007199254740993`, `1.00000000000000000001`, `1e400` and `1e-400` are not.
 * Compares digits as text, so an exponent of any size costs nothing.
 */
export function isExactNumber(text: string, value: number): boolean {
  const canonical = String(value);
  if (canonical === text) {
    return true;
  }
  // Both signs are the same: `value` was read from `text`.
  return Number.isFinite(value) && normalDecimal(text) === normalDecimal(canonical);
}

/**
 * The magnitude of a decimal number as `<digits>e<n>`, meaning 0.digits × 10^n, digits without zeros at either
 * end. Two texts have the same normal form exactly when they denote the same magnitude.
 */
function normalDecimal(text: string): string {
  const unsigned = text.startsWith('-') ? text.slice(1) : text;
  const exponentAt = unsigned.search(/[eE]/);
  const mantissa = exponentAt === -1 ? unsigned : unsigned.slice(0, exponentAt);
  const exponent = exponentAt === -1 ? 0 : Number(unsigned.slice(exponentAt + 1));
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;

  // Loops in place of /0+$/, which is quadratic on a long run of inner zeros.
  let first = 0;
  while (first < digits.length && digits[first] === '0') {
    first += 1;
  }
  if (first === digits.length) {
    return '0';
  }
  let end = digits.length;
  while (digits[end - 1] === '0') {
    end -= 1;
  }
  return `${digits.slice(first, end)}e${whole.length - first + exponent}`;
}
