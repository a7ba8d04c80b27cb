/** Called for each place where a word stands: the word's index in the list given, and its start and end. */
export type OnWord = (word: number, start: number, end: number) => void;

/** Code units from here on are told apart from words' letters by one class. */
const FOLDED = 128;

/** Letters beyond ASCII that a case-insensitive RE2 takes for an ASCII one (Unicode simple case folding). */
const FOREIGN_LETTERS: Readonly<Record<number, string>> = { 383: 's', 8490: 'k' };

/** Gives each character that a word uses a class of its own, its two cases the same; all others are class 0. */
function classify(words: readonly string[]): { classes: Uint8Array; count: number } {
  const classes = new Uint8Array(FOLDED);
  let count = 1;
  for (const character of words.join('')) {
    const lower = character.toLowerCase().charCodeAt(0);
    if (classes[lower] !== 0) continue;
    classes[lower] = count;
    classes[character.toUpperCase().charCodeAt(0)] = count;
    count += 1;
  }
  return { classes, count };
}

/**
 * Finds every place of every word in one pass over a text, whatever the case of its letters; places may overlap.
 * Words are lower-case ASCII. Time is linear in the text and in the places found (Aho and Corasick, 1975).
 */
export function createKeywordScanner(words: readonly string[]): (text: string, onWord: OnWord) => void {
  const { classes, count } = classify(words);
  const size = 1 + words.reduce((sum, word) => sum + word.length, 0);
  const next = new Uint16Array(size * count);
  const ending: number[][] = Array.from({ length: size }, () => []);
  let states = 1;
  for (const [index, word] of words.entries()) {
    let state = 0;
    for (const character of word) {
      const at = state * count + (classes[character.charCodeAt(0)] as number);
      if (next[at] === 0) next[at] = states++;
      state = next[at] as number;
    }
    ending[state]?.push(index);
  }
  linkStates(next, ending, count);
  return (text, onWord) => {
    let state = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const kind = code < FOLDED ? (classes[code] as number) : foreignClass(classes, code);
      state = next[state * count + kind] as number;
      const found = ending[state] as number[];
      for (let i = 0; i < found.length; i += 1) {
        const word = found[i] as number;
        onWord(word, at + 1 - (words[word] as string).length, at + 1);
      }
    }
  };
}

function foreignClass(classes: Uint8Array, code: number): number {
  const letter = FOREIGN_LETTERS[code];
  return letter === undefined ? 0 : (classes[letter.charCodeAt(0)] as number);
}

/** Turns the tree of words into an automaton: where no word goes on, the longest suffix that begins one does. */
function linkStates(next: Uint16Array, ending: number[][], count: number): void {
  const suffix = new Uint16Array(ending.length);
  const queue: number[] = [];
  for (let kind = 0; kind < count; kind += 1) {
    const child = next[kind] as number;
    if (child !== 0) queue.push(child);
  }
  for (let head = 0; head < queue.length; head += 1) {
    const state = queue[head] as number;
    const shorter = suffix[state] as number;
    ending[state]?.push(...(ending[shorter] as number[]));
    for (let kind = 0; kind < count; kind += 1) {
      const at = state * count + kind;
      const onward = next[shorter * count + kind] as number;
      if (next[at] === 0) {
        next[at] = onward;
      } else {
        suffix[next[at] as number] = onward;
        queue.push(next[at] as number);
      }
    }
  }
}
