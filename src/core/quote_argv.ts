/** Words that a POSIX shell reads as they stand: no expansion, no quoting, no operator can hide in them. */
const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** What the quoted form is, for the person or model that has to write it. */
export const QUOTED_FORM =
  "the words of argv joined by one space, a word of `A-Za-z0-9_@%+=:,./-` as it is and any other in single quotes with each ' written '\\''";

/**
 * The one command line that stands for an argument vector: each word in its only form, joined by one space.
 * A POSIX shell (POSIX.1-2017 XCU §2.2.2) would split it into exactly these words, so what an approver reads
 * in `command` is what runs. An empty word is `''`.
 */
export function quoteArgv(argv: readonly string[]): string {
  return argv.map(quoteWord).join(' ');
}

function quoteWord(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
