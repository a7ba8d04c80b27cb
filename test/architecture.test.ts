import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findViolations, SDK_CORE, SDK_SOURCE } from './support/architecture_rules.ts';
import { parseSourceFile, type SourceFile } from './support/source_file.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

function filesBelow(folder: string): SourceFile[] {
  if (!existsSync(ROOT + folder)) {
    return [];
  }
  return readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' })
    .map((name) => folder + name.replaceAll('\\', '/'))
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => parseSourceFile(path, readFileSync(ROOT + path, 'utf8')));
}

/** Rules broken by small files given as path and text. */
function rulesBroken(...files: [path: string, text: string][]): string[] {
  return findViolations(files.map(([path, text]) => parseSourceFile(path, text))).map(
    ({ path, rule }) => `${path}: ${rule}`,
  );
}

describe('the architecture', () => {
  it('is kept by every source file', () => {
    const files = [...filesBelow('src/'), ...filesBelow(SDK_SOURCE)];
    const broken = findViolations(files).map(({ path, rule }) => `${path}: ${rule}`);
    expect(files.length).toBeGreaterThan(10);
    expect(broken).toStrictEqual([]);
  });

  it('has every core file that the sdk bundles', () => {
    expect(SDK_CORE.filter((path) => !existsSync(ROOT + path))).toStrictEqual([]);
  });
});

describe('the architecture test accepts', () => {
  it.each([
    ['the own folder', 'src/core/a.ts', "import type { B } from './b.ts';"],
    ['core from anywhere', 'src/storage/a.ts', "import { b } from '../core/b.ts';"],
    ['analysis from operations', 'src/operations/a.ts', "import { b } from '../analysis/b.ts';"],
    ['everything from cli', 'src/cli/a.ts', "import { b } from '../storage/b.ts'; process.env.PORT;"],
    ['problems of http from console', 'src/console/a.ts', "import { b } from '../http/problem.ts';"],
    [
      'processes and the reading of commands in the sdk’s commands',
      'sdk/typescript/src/command/a.ts',
      "import 'node:child_process'; import '../../../../src/analysis/command/b.ts'; import '../index.ts';",
    ],
    [
      'the environment that commands inherit',
      'sdk/typescript/src/command/environment.ts',
      'export const x = process.env.PATH;',
    ],
    ['cedar in policy', 'src/policy/a.ts', "import * as cedar from '@cedar-policy/cedar-wasm/nodejs';"],
    ['drizzle in storage', 'src/storage/a.ts', "import { eq } from 'drizzle-orm/pg-core';"],
    ['zod in core', 'src/core/a.ts', "import { z } from 'zod';"],
    ['node:crypto in a digest file', 'src/core/digest.ts', "import { createHash } from 'node:crypto';"],
    ['a given time in core', 'src/core/a.ts', 'export const at = new Date(0);'],
    ['a member named like a global in core', 'src/core/a.ts', 'interface A { fetch: 1 } a.process = 1;'],
    ['pure core in the sdk', 'sdk/typescript/src/a.ts', "import '../../../src/core/strict_json.ts';"],
    ['a function of 60 lines', 'src/core/a.ts', `function f() {${'\n'.repeat(59)}}`],
    ['a file of 300 lines', 'src/core/a.ts', '\n'.repeat(300)],
  ])('%s', (_, path, text) => {
    expect(rulesBroken([path, text])).toStrictEqual([]);
  });
});

describe('the architecture test refuses, naming file and rule,', () => {
  it.each([
    ['an edge', 'src/core/a.ts', "import { b } from '../storage/b.ts';", 'core may not import'],
    ['a type-only edge', 'src/http/a.ts', "import type { B } from '../policy/b.ts';", 'http may not import'],
    ['a re-export', 'src/notify/a.ts', "export * from '../operations/b.ts';", 'notify may not import'],
    ['a dynamic import', 'src/analysis/a.ts', "await import('../policy/b.ts');", 'analysis may not import'],
    ['an import type', 'src/policy/a.ts', "type B = import('../http/b.ts').B;", 'policy may not import'],
    ['an import from tests', 'src/core/a.ts', "import '../../test/b.ts';", 'core may not import'],
    [
      'more of http in console',
      'src/console/a.ts',
      "import '../http/app.ts';",
      'only problems and the reading of requests',
    ],
    ['a file outside the folders', 'src/main.ts', "import './core/b.ts';", 'in no folder'],
    ['cedar elsewhere', 'src/cli/a.ts', "import '@cedar-policy/cedar-wasm';", 'only policy may import'],
    ['drizzle elsewhere', 'src/operations/a.ts', "import 'drizzle-orm';", 'only storage may import'],
    ['postgres elsewhere', 'src/cli/a.ts', "import postgres from 'postgres';", 'only storage may import'],
    ['hono in operations', 'src/operations/a.ts', "import type { Context } from 'hono';", 'only http'],
    ['a package in core', 'src/core/a.ts', "import { v7 } from 'uuid';", 'core may import only'],
    ['files in core', 'src/core/a.ts', "import 'node:fs';", 'core may import only'],
    [
      'crypto in any core file',
      'src/core/a.ts',
      "import { createHash } from 'node:crypto';",
      'core files named',
    ],
    ['randomness in core', 'src/core/digest.ts', "import { randomBytes } from 'node:crypto';", 'randomness'],
    ['the clock in core', 'src/core/a.ts', 'export const at = Date.now();', 'core is pure'],
    ['now in core', 'src/core/a.ts', 'export const at = new Date();', 'core is pure'],
    ['chance in core', 'src/core/a.ts', 'export const x = Math.random();', 'core is pure'],
    ['the network in core', 'src/core/a.ts', "export const x = fetch('/');", 'core is pure'],
    ['a global object in core', 'src/core/a.ts', 'export const x = globalThis.fetch;', 'core is pure'],
    ['the environment', 'src/http/a.ts', 'export const x = process.env.PORT;', 'only cli reads'],
    [
      'the environment by index',
      'src/http/a.ts',
      "export const x = globalThis.process['env'];",
      'only cli reads',
    ],
    ['the environment by pattern', 'src/http/a.ts', 'const { env } = process;', 'only cli reads'],
    ['the environment by import', 'src/http/a.ts', "import { env } from 'node:process';", 'only cli reads'],
    [
      'other core in the sdk',
      'sdk/typescript/src/a.ts',
      "import '../../../src/core/fault.ts';",
      'pure core files',
    ],
    ['a package in the sdk', 'sdk/typescript/src/a.ts', "import 'zod';", 'no dependencies'],
    ['files in the sdk', 'sdk/typescript/src/a.ts', "import 'node:fs';", 'no dependencies'],
    [
      'commands in the sdk’s main bundle',
      'sdk/typescript/src/a.ts',
      "import './command/b.ts';",
      'only the command bundle',
    ],
    [
      'a package in the sdk’s commands',
      'sdk/typescript/src/command/a.ts',
      "import 'zod';",
      'no dependencies',
    ],
    [
      'other analysis in the sdk’s commands',
      'sdk/typescript/src/command/a.ts',
      "import '../../../../src/analysis/floor/b.ts';",
      'pure core files',
    ],
    [
      'the environment in the sdk’s commands',
      'sdk/typescript/src/command/a.ts',
      'export const x = process.env.PATH;',
      'only cli reads',
    ],
    ['impure bundled files', 'src/core/json.ts', "import './fault.ts';", 'bundled by the sdk'],
    ['a long file', 'src/core/a.ts', '\n'.repeat(301), 'has 301 lines'],
    ['a long function', 'src/core/a.ts', `function f() {${'\n'.repeat(60)}}`, 'f has 61 lines'],
    ['a long inner function', 'src/core/a.ts', `const f = () => {${'\n'.repeat(60)}};`, 'has 61 lines'],
    ['a name in camel case', 'src/core/aB.ts', '', 'snake_case'],
    ['a folder in kebab case', 'src/core/a-b/c.ts', '', 'snake_case'],
  ])('%s', (_, path, text, rule) => {
    expect(rulesBroken([path, text])).toStrictEqual([expect.stringContaining(rule)]);
    expect(rulesBroken([path, text])[0]).toContain(`${path}: `);
  });

  it('a cycle', () => {
    expect(
      rulesBroken(
        ['src/core/a.ts', "import './b.ts';"],
        ['src/core/b.ts', "import type { C } from './sub/c.ts';"],
        ['src/core/sub/c.ts', "export * from '../a.ts';"],
      ),
    ).toStrictEqual([
      'src/core/a.ts: is in an import cycle: src/core/a.ts -> src/core/b.ts -> src/core/sub/c.ts -> src/core/a.ts',
    ]);
  });
});
