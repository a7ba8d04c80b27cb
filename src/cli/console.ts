import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createConsole } from '../console/app.tsx';
import type { ConsoleOptions } from '../console/console_options.ts';
import type { Config } from './config.ts';

const ASSETS = 'src/console/assets';

/** The browser's half of passkeys, from its package, which names its files by conditions alone. */
function findBrowserBundle(): string {
  const entry = createRequire(import.meta.url).resolve('@simplewebauthn/browser');
  return join(dirname(entry), '../dist/bundle/index.umd.min.js');
}

/** The files that pages load, by name; read once. */
function readAssets(root: string): Map<string, Uint8Array> {
  const folder = join(root, ASSETS);
  const names = readdirSync(folder);
  return new Map([
    ...names.map((name): [string, Uint8Array] => [name, readFileSync(join(folder, name))]),
    ['simplewebauthn.js', readFileSync(findBrowserBundle())],
  ]);
}

/** The client of OpenID providers is loaded where one is configured: it is large. */
async function openOidc({ oidc }: Pick<Config, 'oidc'>, publicUrl: ConsoleOptions['publicUrl']) {
  if (oidc === undefined) return undefined;
  const { createOidcClient } = await import('../console/oidc_client.ts');
  return createOidcClient({ ...oidc, publicUrl });
}

/** The console of a service with this configuration, with the files it has in the package. */
export async function openConsole(
  root: string,
  config: Pick<Config, 'oidc'>,
  options: Omit<ConsoleOptions, 'files' | 'oidc'>,
) {
  return createConsole({
    ...options,
    files: readAssets(root),
    oidc: await openOidc(config, options.publicUrl),
  });
}
