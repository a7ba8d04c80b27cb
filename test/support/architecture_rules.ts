import { posix } from 'node:path';
import type { SourceFile, SourceImport } from './source_file.ts';

export interface Violation {
  path: string;
  rule: string;
}

const LINES_MAX = 300;
const FUNCTION_LINES_MAX = 60;

/** Folders of `src` and what each may import beside itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  analysis: ['core'],
  policy: ['core', 'analysis'],
  storage: ['core'],
  operations: ['core', 'analysis'],
  http: ['operations', 'core'],
  console: ['http', 'operations', 'core'],
  notify: ['core'],
  cli: ['core', 'analysis', 'policy', 'storage', 'operations', 'http', 'console', 'notify'],
};

/** Packages that one folder, or the few named, alone may import. */
const OWNERS: readonly { packages: RegExp; folders: readonly string[] }[] = [
  { packages: /^@cedar-policy\//, folders: ['policy'] },
  { packages: /^(drizzle-orm|drizzle-kit|postgres|rate-limiter-flexible|pg-boss)$/, folders: ['storage'] },
  { packages: /^(standardwebhooks|@slack\/.*)$/, folders: ['notify'] },
  { packages: /^openid-client$/, folders: ['console'] },
  { packages: /^@simplewebauthn\//, folders: ['operations'] },
  { packages: /^(hono|@hono\/.*|zod-openapi)$/, folders: ['http', 'console', 'cli'] },
];

/** The console takes from `http` its problems, how a request is read and events told; nothing of the API's routes. */
const HTTP_FOR_CONSOLE =
  /^src\/http\/([^/]*problem|answer_stream|bindings|client_address|ending|events\/event_stream|log|log_fault|negotiate|read_body|request_id|to_fault)[^/]*\.ts$/;

/** Core files that hold digests and signatures, and so may use node:crypto. */
const CRYPTO_FILE = /(digest|fingerprint|hash|signature)[^/]*$/;

export const SDK_SOURCE = 'sdk/typescript/src/';
/** The core files that the SDK bundles. They import only each other. */
export const SDK_CORE: readonly string[] = [
  'src/core/action.ts',
  'src/core/action_hash.ts',
  'src/core/canonical_action.ts',
  'src/core/canonical_json.ts',
  'src/core/command_call.ts',
  'src/core/digest.ts',
  'src/core/exact_number.ts',
  'src/core/json.ts',
  'src/core/json_rules.ts',
  'src/core/quote_argv.ts',
  'src/core/strict_json.ts',
  'src/core/strict_json_error.ts',
  'src/core/strict_json_reader.ts',
  'src/core/vote_signature.ts',
];

/** The SDK's part that runs commands: a bundle of its own for Node, which reads commands as the service does. */
const SDK_COMMAND = 'sdk/typescript/src/command/';
const SDK_COMMAND_ANALYSIS = 'src/analysis/command/';
/** What a command inherits is what its host has. */
const SDK_ENVIRONMENT = `${SDK_COMMAND}environment.ts`;

/** Every breach of the rules of the layout in these files, which are all files of `src` and of the SDK. */
export function findViolations(files: readonly SourceFile[]): Violation[] {
  const each = files.flatMap((file) => [
    ...sizeRules(file),
    ...nameRule(file),
    ...effectRules(file),
    ...file.imports.flatMap((wanted) => importRules(file, wanted)),
  ]);
  return [...each.map(({ path, rule }) => ({ path, rule })), ...findCycles(files)];
}

/** The path of an imported project file relative to the repository, or undefined for a package. */
function resolve(file: SourceFile, { specifier }: SourceImport): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file.path), specifier) : undefined;
}

/** The first folder below `src`; `sdk` for the SDK; undefined for anything else. */
function folderOf(path: string): string | undefined {
  if (path.startsWith(SDK_SOURCE)) {
    return 'sdk';
  }
  return /^src\/([^/]+)\//.exec(path)?.[1];
}

function sizeRules({ path, lines, functions }: SourceFile): Violation[] {
  const long = lines > LINES_MAX ? [{ path, rule: `has ${lines} lines, over ${LINES_MAX}` }] : [];
  const longFunctions = functions
    .filter((one) => one.lines > FUNCTION_LINES_MAX)
    .map((one) => ({
      path,
      rule: `line ${one.firstLine}: ${one.name} has ${one.lines} lines, over ${FUNCTION_LINES_MAX}`,
    }));
  return [...long, ...longFunctions];
}

function nameRule({ path }: SourceFile): Violation[] {
  const below = path.startsWith(SDK_SOURCE) ? path.slice(SDK_SOURCE.length) : path.replace(/^src\//, '');
  const isSnakeCase = below.split('/').every((part) => /^[a-z0-9]+(_[a-z0-9]+)*(\.d)?(\.tsx?)?$/.test(part));
  return isSnakeCase ? [] : [{ path, rule: 'is not named in snake_case' }];
}

function effectRules({ path, effects, imports }: SourceFile): Violation[] {
  const folder = folderOf(path);
  if (folder === 'core' && effects.length > 0) {
    return [{ path, rule: `core is pure but uses \`${effects[0]}\`` }];
  }
  const readsEnvironment =
    effects.includes('process.env') ||
    imports.some(
      ({ specifier, names }) =>
        /^(node:)?process$/.test(specifier) && names.some((name) => ['env', 'default', '*'].includes(name)),
    );
  return readsEnvironment && folder !== 'cli' && path !== SDK_ENVIRONMENT
    ? [{ path, rule: 'only cli reads process.env' }]
    : [];
}

function importRules(file: SourceFile, wanted: SourceImport): Violation[] {
  const folder = folderOf(file.path);
  const target = resolve(file, wanted);
  const rules =
    folder === 'sdk'
      ? sdkImportRule(file, wanted, target)
      : target === undefined
        ? packageRule(file, folder, wanted)
        : edgeRule(file, folder, target);
  return rules.map((rule) => ({ path: file.path, rule }));
}

function sdkImportRule(
  { path }: SourceFile,
  { specifier }: SourceImport,
  target: string | undefined,
): string[] {
  const isCommand = path.startsWith(SDK_COMMAND);
  if (target === undefined) {
    const isAllowed = isCommand ? specifier.startsWith('node:') : specifier === 'node:crypto';
    return isAllowed ? [] : [`the sdk has no dependencies but imports \`${specifier}\``];
  }
  if (!isCommand && target.startsWith(SDK_COMMAND)) {
    return [`only the command bundle of the sdk may import \`${target}\``];
  }
  const isOwn = target.startsWith(SDK_SOURCE) || SDK_CORE.includes(target);
  const isAnalysis = isCommand && target.startsWith(SDK_COMMAND_ANALYSIS);
  return isOwn || isAnalysis
    ? []
    : [`the sdk may import only its own files and the pure core files, not \`${target}\``];
}

function edgeRule(file: SourceFile, folder: string | undefined, target: string): string[] {
  const allowed = folder === undefined ? undefined : MAY_IMPORT[folder];
  if (folder === undefined || allowed === undefined) {
    return ['is in no folder of `src` that the rules know. Add it to `MAY_IMPORT`'];
  }
  if (SDK_CORE.includes(file.path) && !SDK_CORE.includes(target)) {
    return [`is bundled by the sdk but imports \`${target}\`, which is not`];
  }
  const targetFolder = folderOf(target);
  if (targetFolder === folder || folder === 'cli') {
    return [];
  }
  if (targetFolder === undefined || !allowed.includes(targetFolder)) {
    return [`${folder} may not import \`${target}\``];
  }
  if (folder === 'console' && targetFolder === 'http' && !HTTP_FOR_CONSOLE.test(target)) {
    return [`console may import only problems and the reading of requests of http, not \`${target}\``];
  }
  return [];
}

function packageRule(file: SourceFile, folder: string | undefined, wanted: SourceImport): string[] {
  const { specifier } = wanted;
  if (folder === 'core') {
    return corePackageRule(file, wanted);
  }
  const name = /^(@[^/]+\/[^/]+|[^/]+)/.exec(specifier)?.[0] ?? specifier;
  const owner = OWNERS.find(({ packages }) => packages.test(name));
  if (owner === undefined || (folder !== undefined && owner.folders.includes(folder))) {
    return [];
  }
  return [`only ${owner.folders.join(', ')} may import \`${specifier}\``];
}

function corePackageRule({ path }: SourceFile, { specifier, names }: SourceImport): string[] {
  if (specifier === 'zod') {
    return [];
  }
  if (specifier !== 'node:crypto') {
    return [`core may import only zod and node:crypto, not \`${specifier}\``];
  }
  if (!CRYPTO_FILE.test(path)) {
    return ['node:crypto is for core files named digest, hash or signature'];
  }
  const random = names.find((name) => /^(random|generate|getRandom|webcrypto|default|\*)/.test(name));
  return random === undefined ? [] : [`core has no randomness but takes \`${random}\` from node:crypto`];
}

/** One violation per cycle of imports, named at its first file; type imports count. */
function findCycles(files: readonly SourceFile[]): Violation[] {
  const edges = new Map(
    files.map((file) => [file.path, file.imports.flatMap((wanted) => resolve(file, wanted) ?? [])]),
  );
  const done = new Set<string>();
  const violations: Violation[] = [];
  const visit = (path: string, trail: readonly string[]) => {
    const start = trail.indexOf(path);
    if (start !== -1) {
      violations.push({ path, rule: `is in an import cycle: ${[...trail.slice(start), path].join(' -> ')}` });
      return;
    }
    if (!done.has(path)) {
      for (const next of edges.get(path) ?? []) {
        visit(next, [...trail, path]);
      }
      done.add(path);
    }
  };
  for (const path of edges.keys()) {
    visit(path, []);
  }
  return violations;
}
