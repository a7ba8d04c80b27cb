import { fileURLToPath } from 'node:url';
import type { PolicyCompiler } from '../../src/core/rules_ports.ts';
import { createPolicyCompiler, type PolicyCompilerOptions } from '../../src/policy/compiler.ts';
import { request } from './support.ts';

/** The built file, which the suite's set-up makes. */
const WORKER_PATH = fileURLToPath(new URL('../../dist/compile_worker.js', import.meta.url));

/** A compiler on a real thread; whoever makes it closes it. */
export function compilerOfTests(options: Partial<PolicyCompilerOptions> = {}): PolicyCompiler {
  return createPolicyCompiler({ workerPath: WORKER_PATH, ...options });
}

/** A call of something that nobody registered. */
export function emptyRequest() {
  return request('some', 'thing', {});
}
