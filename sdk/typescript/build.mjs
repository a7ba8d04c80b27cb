// Builds dist/, or the folder named as the argument: one bundle that loads in every runtime, one for Node that runs commands, and the types of both.
// The bundles hold the service's own strict JSON reader, canonical form and reading of commands, so that there is one implementation of each.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const require = createRequire(import.meta.url);
const here = dirname(fileURLToPath(import.meta.url));
const dist = process.argv[2] ?? join(here, 'dist');
rmSync(dist, { recursive: true, force: true });

const common = {
  absWorkingDir: here,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  sourcemap: true,
  logLevel: 'warning',
};

// `neutral`: an import of a Node module would be an error here, not a bundle that fails at the edge.
await build({
  ...common,
  entryPoints: ['src/index.ts'],
  outfile: join(dist, 'index.js'),
  platform: 'neutral',
});

/** The main bundle stays beside the other one, not in it: an error is of the same class wherever it is caught. */
const mainBundle = {
  name: 'main-bundle',
  setup({ onResolve }) {
    onResolve({ filter: /\/index\.ts$/ }, ({ path, resolveDir }) =>
      resolve(resolveDir, path) === join(here, 'src/index.ts')
        ? { path: './index.js', external: true }
        : undefined,
    );
  },
};
const unbash = dirname(dirname(require.resolve('unbash')));
await build({
  ...common,
  entryPoints: ['src/command/index.ts'],
  outfile: join(dist, 'command.js'),
  platform: 'node',
  plugins: [mainBundle],
  // What is bundled of others keeps their notice.
  banner: { js: `/*! unbash\n${readFileSync(join(unbash, 'LICENSE'), 'utf8').trim()}\n*/` },
});

const typescript = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
const types = join(dist, 'types');
// Two projects: Node's types are no part of what the main bundle may use.
for (const project of ['tsconfig.json', 'tsconfig.command.json']) {
  execFileSync(process.execPath, [typescript, '-p', join(here, project), '--outDir', types], {
    stdio: 'inherit',
  });
}

/** Declarations that an entry reaches. */
const reached = new Set();
function reach(path) {
  if (!reached.has(path)) {
    reached.add(path);
    for (const [, specifier] of readFileSync(path, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      reach(join(dirname(path), specifier.replace(/\.ts$/, '.d.ts')));
    }
  }
}
reach(join(types, 'sdk/typescript/src/index.d.ts'));
reach(join(types, 'sdk/typescript/src/command/index.d.ts'));
for (const name of readdirSync(types, { recursive: true, encoding: 'utf8' })) {
  // The rest describes the inside of the bundles, in types of packages that are not installed with this one.
  if (name.endsWith('.d.ts') && !reached.has(join(types, name))) {
    rmSync(join(types, name));
  }
}
