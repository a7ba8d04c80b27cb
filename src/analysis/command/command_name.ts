const BARE_NAME = /^[a-z\d_-]*$/;

/** Whether a word is a command's name and nothing else: no path, no upper case, no ending. Most are. */
export function isBareName(word: string): boolean {
  return BARE_NAME.test(word);
}

/** The name by which a command is known: the last component of its path, in lower case, without `.exe` and such. */
export function commandName(path: string): string {
  if (isBareName(path)) return path;
  const last = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).toLowerCase();
  return last.replace(/\.(?:exe|com|cmd|bat)$/, '');
}

/**
 * Where the number of a version starts that stands just before `end`: at the first digit of the digits and dots there;
 * `end` where there is none. Read backwards, as a regular expression would try every digit of a long name anew.
 */
export function versionStart(name: string, end: number): number {
  let start = end;
  for (let at = end - 1; at >= 0; at -= 1) {
    const character = name.charAt(at);
    if (character >= '0' && character <= '9') start = at;
    else if (character !== '.') break;
  }
  return start;
}

/** A name without the number of a version at its end: `zsh` of `zsh-5.9`. */
export function withoutVersion(name: string): string {
  const start = versionStart(name, name.length);
  return name.slice(0, start < name.length && name.charAt(start - 1) === '-' ? start - 1 : start);
}
