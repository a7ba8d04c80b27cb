import { readFileSync } from 'node:fs';

/** Commands and what states their surroundings; `cwd` and `env` as a call states them. */
export interface Case {
  command: string;
  cwd?: string;
  env?: Record<string, string>;
}

/** The commands of a file beside this one, one a line. */
function each(file: string): Case[] {
  return readFileSync(new URL(file, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((command) => ({ command }));
}

/** Recursive deletion of a root, a system folder or a home, as it may be spelled. */
export const DELETIONS: Case[] = [
  ...each('deletions.txt'),
  { command: 'rm -rf \\\n/' },
  { command: 'ls\nrm -rf /\nif then' },
  { command: 'cat <<EOF | sh\nrm -rf /\nEOF' },
  { command: "bash <<'EOF'\nrm -rf /\nEOF" },
  { command: "python3 <<'EOF'\nimport shutil\nshutil.rmtree('/')\nEOF" },
  { command: 'rm -rf $T', env: { T: '/' } },
  { command: 'rm -rf "$T"', env: { T: '/home' } },
  { command: 'rm -rf $T', env: { T: '-x /' } },
  { command: 'rm -rf "$T/etc"', env: { T: '' } },
  { command: '$CMD', env: { CMD: 'rm -rf /' } },
  { command: 'rm -rf ~', env: { HOME: '/workspace' } },
  { command: 'rm -rf /workspace', env: { HOME: '/workspace' } },
  { command: 'rm -rf /workspace/*', env: { HOME: '/workspace' } },
  { command: 'rm -rf /repo', env: { HOME: '/repo/space' } },
  { command: 'rm -rf ~/*', env: { HOME: '' } },
  { command: 'rm -rf *', cwd: '/' },
  { command: 'rm -rf ./*', cwd: '/' },
  { command: 'rm -rf .', cwd: '/' },
  { command: 'rm -rf .*', cwd: '/' },
  { command: 'rm -rf etc', cwd: '/' },
  { command: 'rm -rf "$PWD"', cwd: '/' },
  { command: 'rm -rf $(pwd)', cwd: '/' },
  { command: 'rm -rf ../../..', cwd: '/home/a' },
  { command: 'rm -rf ..', cwd: '/home/a' },
  { command: 'rm -rf *', cwd: '/home/a' },
  { command: 'rm -rf ../../etc', cwd: '/tmp/x' },
  { command: 'cd .. && rm -rf *', cwd: '/tmp' },
  { command: 'cd missing; rm -rf *', cwd: '/' },
  { command: 'find -delete', cwd: '/' },
  { command: 'find . -delete', cwd: '/root' },
];

export const OTHERS: Case[] = [
  ...each('other_floor.txt'),
  { command: "python3 -c 'import os\nwhile True:\n    os.fork()'" },
];

/** What looks like the above and is not. */
export const SAFE: Case[] = [
  ...each('safe.txt'),
  { command: "cat > notes.txt <<'EOF'\nrm -rf /\n:(){ :|:& };:\nEOF" },
  { command: 'git commit -m "docs:\nrm -rf /\n"' },
  { command: "python3 - <<'EOF'\nprint('rm -rf /')\nEOF" },
  { command: 'set -e\ncd /tmp/x\nrm -rf *', cwd: '/' },
  { command: 'rm -rf *', cwd: '/home/alice/project' },
  { command: 'rm -rf ..', cwd: '/home/alice/project/x' },
  { command: 'rm -rf etc', cwd: '/tmp' },
  { command: 'rm -rf $T', env: { T: '/tmp/x' } },
  { command: 'rm -rf $T/*', env: { T: '/tmp/x' } },
  { command: 'rm -rf ~/x', env: { HOME: '/workspace' } },
  { command: 'rm -rf /workspace/x', env: { HOME: '/workspace' } },
  { command: 'find . -delete', cwd: '/tmp/x' },
  { command: 'cd x; rm -rf *', cwd: '/home/alice/project' },
];
