// Builds dist/, or the folder named as the argument: one bundle that loads in every runtime, and its types. The bundle holds the service's own strict
// JSON reader and canonical form, so that there is one implementation of each.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const dist = process.argv[2] ?? join(here, 'dist');
rmSync(dist, { recursive: true, force: true });

// `neutral`: an import of a Node module would be an error here, not a bundle that fails at the edge.
await build({
  absWorkingDir: here,
  entryPoints: ['src/index.ts'],
  outfile: join(dist, 'index.js'),
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  sourcemap: true,
  logLevel: 'warning',
});

const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
const types = ['-p', join(here, 'tsconfig.json'), '--outDir', join(dist, 'types')];
execFileSync(process.execPath, [join(typescript, 'bin/tsc'), ...types], { stdio: 'inherit' });
