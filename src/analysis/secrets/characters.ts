const KINDS = new Uint8Array(128);
const WORD = 1;
const DIGIT = 2;
const LETTER = 4;
for (let code = 48; code < 58; code += 1) KINDS[code] = WORD | DIGIT;
for (let code = 65; code < 91; code += 1) {
  KINDS[code] = WORD | LETTER;
  KINDS[code + 32] = WORD | LETTER;
}
KINDS[95] = WORD;

function isKind(text: string, at: number, kind: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 && ((KINDS[code] as number) & kind) !== 0;
}

/** Whether an ASCII letter, digit or underscore stands there (RE2's `\w`); false outside the text. */
export function isWordAt(text: string, at: number): boolean {
  return isKind(text, at, WORD);
}

export function isLetterAt(text: string, at: number): boolean {
  return isKind(text, at, LETTER);
}

/** Where a run of the characters given ends, looking at no more than `most` of them. */
export function skipAny(text: string, from: number, characters: string, most: number): number {
  const last = Math.min(text.length, from + most);
  let at = from;
  while (at < last && characters.includes(text.charAt(at))) at += 1;
  return at;
}

/** Where a run of word characters and hyphens ends, looking at no more than `most` of them. */
export function skipName(text: string, from: number, most: number): number {
  const last = Math.min(text.length, from + most);
  let at = from;
  while (at < last && (isWordAt(text, at) || text[at] === '-')) at += 1;
  return at;
}

/** Where the word characters and hyphens before a place begin, looking at no more than `most` of them. */
export function backOverName(text: string, from: number, most: number): number {
  const first = Math.max(0, from - most);
  let at = from;
  while (at > first && (isWordAt(text, at - 1) || text[at - 1] === '-')) at -= 1;
  return at;
}

/** A table of the ASCII characters that has 1 for those given. */
export function markCharacters(characters: string): Uint8Array {
  const marked = new Uint8Array(128);
  for (const character of characters) marked[character.charCodeAt(0)] = 1;
  return marked;
}
