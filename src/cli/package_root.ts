import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder of this package, with `policies` and `drizzle` in it: the nearest one upwards with a package.json, so
 * that it is found from the sources and from the built file alike.
 */
export function findPackageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('the package of this file has no package.json. Install it anew');
    folder = parent;
  }
  return folder;
}
