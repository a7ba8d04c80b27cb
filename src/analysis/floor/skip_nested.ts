/**
 * Where the text that opened before `start` ends, past its closer: a quote, a substitution, a parameter. What is never
 * closed ends with the text, so that nothing is read twice.
 */
export function skipNested(text: string, start: number, closer: string): number {
  const open = [closer];
  let at = start;
  while (at < text.length && open.length > 0) {
    const letter = text.charAt(at);
    const awaited = open.at(-1);
    if (letter === '\\') {
      at += 2;
    } else if (letter === awaited) {
      open.pop();
      at += 1;
    } else if (letter === "'" && awaited !== '"') {
      const end = text.indexOf("'", at + 1);
      at = end === -1 ? text.length : end + 1;
    } else {
      const opened = closerOf(text, at, awaited);
      if (opened !== null) open.push(opened);
      at += letter === '$' && opened !== null ? 2 : 1;
    }
  }
  return Math.min(at, text.length);
}

function closerOf(text: string, at: number, awaited: string | undefined): string | null {
  const letter = text.charAt(at);
  if (letter === '$') {
    const next = text.charAt(at + 1);
    return next === '(' ? ')' : next === '{' ? '}' : null;
  }
  if (letter === '"' || letter === '`') return letter;
  return letter === '(' && awaited === ')' ? ')' : null;
}
