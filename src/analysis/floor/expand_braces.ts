/** How many words one pair of braces may become before it counts as anything. */
const ALTERNATIVES_MAX = 1024;

/** The alternatives of `{a,b}` as written, nested braces kept whole; null for a sequence, and for too many. */
export function splitBraces(text: string): string[] | null {
  const inside = text.slice(1, -1);
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < inside.length; at += 1) {
    const letter = inside.charAt(at);
    if (letter === '\\') at += 1;
    else if (letter === '{') depth += 1;
    else if (letter === '}') depth -= 1;
    else if (letter === ',' && depth === 0) {
      parts.push(inside.slice(start, at));
      start = at + 1;
      if (parts.length >= ALTERNATIVES_MAX) return null;
    }
  }
  return parts.length === 0 ? null : [...parts, inside.slice(start)];
}
