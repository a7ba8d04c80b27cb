import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const STARTER_SET = fileURLToPath(new URL('../../policies', import.meta.url));

export interface PolicyFolder {
  path: string;
  remove(): void;
}

/**
 * A copy of the starter set, without its cases, which are about the set as it is, with texts replaced in one of its files.
 * @throws Error when a text is not in it.
 */
export function copyPolicies(file: string, replaced: Record<string, string>): PolicyFolder {
  const path = mkdtempSync(join(tmpdir(), 'aegis-policies-'));
  cpSync(STARTER_SET, path, { recursive: true, filter: (source) => source !== join(STARTER_SET, 'cases') });
  let text = readFileSync(join(path, file), 'utf8');
  for (const [from, to] of Object.entries(replaced)) {
    if (!text.includes(from)) throw new Error(`\`${file}\` has no \`${from}\``);
    text = text.replace(from, to);
  }
  writeFileSync(join(path, file), text);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
