import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Optimises the evaluation of a call, then has it deoptimised while Cedar reads the call. */
const SCRIPT = `
import { evaluate, preparePolicies } from './cedar.js';
preparePolicies('p', { a: 'permit(principal, action, resource);' });
const ref = (type) => ({ type, id: 'x' });
const call = () => ({ principal: ref('A'), action: ref('B'), resource: ref('C'), context: {}, entities: [] });
%PrepareFunctionForOptimization(evaluate);
for (let count = 0; count < 20_000; count += 1) evaluate('p', call());
%OptimizeFunctionOnNextCall(evaluate);
evaluate('p', call());
const hostile = { ...call(), context: undefined };
Object.defineProperty(hostile.principal, 'id', {
  enumerable: true,
  get() {
    %DeoptimizeFunction(evaluate);
    return 'x';
  },
});
console.log(evaluate('p', { ...hostile, context: {} }).kind);
`;

const ON_A_THREAD = `
import { Worker } from 'node:worker_threads';
new Worker(new URL('./main.js', import.meta.url));
`;

it.each([
  ['main.js', 'on the main thread'],
  ['thread.js', 'on a worker thread'],
])(
  'an evaluation that is deoptimised half-way is answered, and does not end the process (%s: %s)',
  async (file) => {
    const folder = mkdtempSync(join(ROOT, 'dist/deoptimised-'));
    try {
      await build({
        entryPoints: [join(ROOT, 'src/policy/cedar.ts')],
        outfile: join(folder, 'cedar.js'),
        bundle: true,
        platform: 'node',
        format: 'esm',
        packages: 'external',
      });
      writeFileSync(join(folder, 'main.js'), SCRIPT);
      writeFileSync(join(folder, 'thread.js'), ON_A_THREAD);
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
      const output = execFileSync(process.execPath, ['--allow-natives-syntax', join(folder, file)], {
        encoding: 'utf8',
      });
      expect(output).toBe('answered\n');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
