import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { transformSync } from 'esbuild';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type * as Sdk from '../src/index.ts';
import { isRunning, until } from './command_bench.ts';
import { type Answer, authorizeAnswer, clientOf, KEY, type Peer, startPeer } from './peer.ts';

const sdkFolder = fileURLToPath(new URL('..', import.meta.url));
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

/** A project that has the built package installed, and nothing else. */
let consumer: string;
let installed: string;
let peer: Peer | undefined;

beforeAll(() => {
  consumer = mkdtempSync(join(tmpdir(), 'aegis-sdk-'));
  installed = join(consumer, 'node_modules/@aegis/sdk');
  mkdirSync(installed, { recursive: true });
  execFileSync(process.execPath, [join(sdkFolder, 'build.mjs'), join(installed, 'dist')]);
  cpSync(join(sdkFolder, 'package.json'), join(installed, 'package.json'));
  writeFileSync(join(consumer, 'package.json'), '{"type":"module"}');
}, 120_000);
afterAll(() => rmSync(consumer, { recursive: true, force: true }));
afterEach(() => peer?.close());

const allow: Answer = ({ path }, self) =>
  path === '/v1/authorize'
    ? { body: authorizeAnswer(self, { decision: 'allow', approval: null }) }
    : undefined;

test('the package depends on nothing', () => {
  const manifest = JSON.parse(readFileSync(join(sdkFolder, 'package.json'), 'utf8'));
  for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies']) {
    expect(manifest[kind]).toBeUndefined();
  }
  const bundle = readFileSync(join(installed, 'dist/index.js'), 'utf8');
  expect(bundle).not.toMatch(/^\s*import\b/m);
  expect(bundle).not.toMatch(/\brequire\(|\bimport\(/);
});

test('what runs commands is a bundle of its own, which needs Node and the main one and nothing else', () => {
  const bundle = readFileSync(join(installed, 'dist/command.js'), 'utf8');
  const wanted = [...bundle.matchAll(/^\s*(?:import|export)\b[^;]*?from\s*"([^"]+)"/gm)].map(
    (match) => match[1],
  );
  expect(wanted).toContain('./index.js');
  expect(wanted.filter((name) => name !== './index.js' && !name?.startsWith('node:'))).toEqual([]);
  expect(bundle).not.toMatch(/\brequire\(|\bimport\(|^\s*import\s*"/m);
  // One class of errors, whichever bundle throws.
  expect(bundle).not.toMatch(/\bclass \w*Error\b|\bclass Aegis\b/);
  expect(readFileSync(join(installed, 'dist/index.js'), 'utf8')).not.toMatch(/child_process|node:fs/);
});

test('what is bundled of others has their notice', () => {
  const bundle = readFileSync(join(installed, 'dist/command.js'), 'utf8');
  const require = createRequire(import.meta.url);
  const licence = readFileSync(join(dirname(require.resolve('unbash')), '../LICENSE'), 'utf8');
  expect(bundle).toContain(licence.trim());
});

test('the packed package has its licence, which is the project’s, and is built before it is packed', () => {
  const manifest = JSON.parse(readFileSync(join(sdkFolder, 'package.json'), 'utf8'));
  expect(manifest.scripts.prepack).toBe('node build.mjs');
  expect(manifest.files).toEqual(['dist', 'README.md', 'LICENSE']);
  const project = readFileSync(join(sdkFolder, '../../LICENSE'), 'utf8');
  expect(readFileSync(join(sdkFolder, 'LICENSE'), 'utf8')).toBe(project);
});

test('every file the manifest names is built', () => {
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  const entries = ['.', './command'].flatMap((name) => Object.values<string>(manifest.exports[name]));
  expect(entries).toHaveLength(4);
  expect([...entries, manifest.types].filter((path) => !existsSync(join(installed, path)))).toEqual([]);
});

test('the types reach nothing outside the package', () => {
  const types = join(installed, 'dist/types');
  const files = readdirSync(types, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.d.ts'),
  );
  const imports = files.flatMap((name) =>
    [...readFileSync(join(types, name), 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((match) =>
      join(types, dirname(name), match[1] ?? '').replace(/\.ts$/, '.d.ts'),
    ),
  );
  expect(imports.length).toBeGreaterThan(10);
  expect(imports.filter((path) => !path.startsWith(types) || !existsSync(path))).toEqual([]);
});

describe('a strict project without Node’s types compiles the examples against the package', () => {
  test.each(['nodenext', 'bundler'])(
    'under %s',
    (moduleResolution) => {
      for (const name of ['approver.ts', 'command.ts', 'resume.ts']) {
        const source = readFileSync(join(sdkFolder, 'examples', name), 'utf8');
        const installed = source.replaceAll("'../src/index.ts'", "'@aegis/sdk'");
        writeFileSync(
          join(consumer, name),
          installed.replaceAll("'../src/command/index.ts'", "'@aegis/sdk/command'"),
        );
      }
      // A type that resolved to `any` would let this pass without an error.
      writeFileSync(
        join(consumer, 'typed.ts'),
        `import { Aegis, type AegisErrorCode, PendingError } from '@aegis/sdk';
import { protectCommand } from '@aegis/sdk/command';
export async function push(aegis: Aegis): Promise<string> {
  const run = protectCommand(aegis, { env: { GIT_AUTHOR_NAME: 'x' } });
  const { exitCode, stdout } = await run({ argv: ['git', 'push'] });
  const status: number | null = exitCode;
  // @ts-expect-error a command is words or a text
  await run({});
  // @ts-expect-error and not both
  await run({ argv: ['git'], command: 'git' });
  return stdout.text + String(status);
}
export async function run(aegis: Aegis, error: unknown): Promise<string> {
  const guarded = aegis.protect({ tool: 't', action: 'a', mutatesState: true }, (p: { n: number }) => p.n + 1);
  const result: number = await guarded({ n: 1 });
  // @ts-expect-error the result is a number
  const text: string = result;
  // @ts-expect-error the parameters are checked
  await guarded({ n: 'x' });
  // @ts-expect-error \`mutatesState\` has no default
  aegis.protect({ tool: 't', action: 'a' }, () => 1);
  if (error instanceof PendingError) {
    const code: 'pending' = error.code;
    // @ts-expect-error a code is one of the list
    const other: AegisErrorCode = 'nope';
    return code + other;
  }
  return text;
}
`,
      );
      const module = moduleResolution === 'nodenext' ? 'nodenext' : 'esnext';
      writeFileSync(
        join(consumer, 'tsconfig.json'),
        JSON.stringify({
          compilerOptions: {
            module,
            moduleResolution,
            target: 'es2022',
            lib: ['es2022', 'dom', 'dom.iterable'],
            types: [],
            strict: true,
            noEmit: true,
            skipLibCheck: false,
          },
          include: ['*.ts'],
        }),
      );
      const output = runTsc();
      expect(output).toBe('');
    },
    60_000,
  );
});

function runTsc(): string {
  try {
    return execFileSync(process.execPath, [tsc, '-p', consumer], { encoding: 'utf8' });
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout);
  }
}

test('the built package runs in a Node process of its own', async () => {
  peer = await startPeer();
  const script = join(consumer, 'run.mjs');
  writeFileSync(
    script,
    `import { Aegis } from '@aegis/sdk';
const aegis = new Aegis({ baseUrl: process.argv[2], key: process.argv[3] });
const guarded = aegis.protect({ tool: 't', action: 'a', mutatesState: true }, ({ n }) => n + 1);
console.log(await guarded({ n: 41 }));
`,
  );
  const { execFile } = await import('node:child_process');
  const { promisify } = await import('node:util');
  const { stdout } = await promisify(execFile)(process.execPath, [script, peer.url, KEY]);
  expect(stdout).toBe('42\n');
});

test('the two built bundles know each other’s errors', async () => {
  peer = await startPeer(allow);
  const script = join(consumer, 'command.mjs');
  writeFileSync(
    script,
    `import { Aegis, AegisError } from '@aegis/sdk';
import { protectCommand } from '@aegis/sdk/command';
const run = protectCommand(new Aegis({ baseUrl: process.argv[2], key: process.argv[3] }));
console.log((await run({ argv: ['echo', 'one two'] })).stdout.text.trim());
console.log((await run({ command: 'echo three | tr a-z A-Z' })).stdout.text.trim());
console.log(await run({ argv: ['no-such-tool'] }).catch((error) => error instanceof AegisError));
`,
  );
  const { execFile } = await import('node:child_process');
  const { promisify } = await import('node:util');
  const { stdout } = await promisify(execFile)(process.execPath, [script, peer.url, KEY]);
  expect(stdout).toBe('one two\nTHREE\ntrue\n');
});

test('a command does not outlive the process that ran it', async () => {
  peer = await startPeer(allow);
  const script = join(consumer, 'leave.mjs');
  writeFileSync(
    script,
    `import { existsSync } from 'node:fs';
import { Aegis } from '@aegis/sdk';
import { protectCommand } from '@aegis/sdk/command';
const run = protectCommand(new Aegis({ baseUrl: process.argv[2], key: process.argv[3] }));
run({ command: 'sleep 60 & echo $! > new; mv new pid; wait' });
setInterval(() => existsSync('pid') && process.exit(0), 10);
`,
  );
  const { execFile } = await import('node:child_process');
  const { promisify } = await import('node:util');
  await promisify(execFile)(process.execPath, [script, peer.url, KEY], { cwd: consumer });
  const pid = Number(readFileSync(join(consumer, 'pid'), 'utf8'));
  await until(() => !isRunning(pid));
});

test('the bundle loads and runs where only web globals exist, as at the edge', async () => {
  peer = await startPeer(allow);
  const bundle = readFileSync(join(installed, 'dist/index.js'), 'utf8');
  const { code } = transformSync(bundle, { format: 'iife', globalName: 'sdk' });
  const web = {
    fetch,
    crypto,
    performance,
    TextEncoder,
    TextDecoder,
    Uint8Array,
    URL,
    URLSearchParams,
    AbortController,
    setTimeout,
    clearTimeout,
    structuredClone,
  };
  const sdk = runInContext(`${code}; sdk`, createContext({ ...web })) as typeof Sdk;
  const aegis = new sdk.Aegis({ baseUrl: peer.url, key: KEY });
  const guarded = aegis.protect(
    { tool: 't', action: 'a', mutatesState: false },
    (parameters: { n: number }) => parameters.n,
  );
  expect(await guarded({ n: 7 })).toBe(7);
  const [authorize] = peer.to('/authorize');
  // The same hash without node:crypto as with it.
  expect(authorize?.body.action_hash).toBe(authorizeAnswer(peer).action_hash);
  expect(await clientOf(peer).authorize({ tool_call: peer.asked })).toMatchObject({
    action_hash: authorize?.body.action_hash,
  });
});
