/** The name by which a command is known: the last component of its path, in lower case, without `.exe` and such. */
export function commandName(path: string): string {
  const last = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).toLowerCase();
  return last.replace(/\.(?:exe|com|cmd|bat)$/, '');
}
