import { canonicalize } from '../core/canonical_json.ts';
import { sha256Hex } from '../core/digest.ts';
import type { JsonObject } from '../core/json.ts';
import { NOTHING_OF_ITS_OWN, type Rules } from '../core/rules.ts';
import { type Compilation, type CompiledRules, compileRules } from './compile.ts';
import { type FolderReading, readPolicyFolder } from './load.ts';
import { type LoadedCases, loadCases } from './load_cases.ts';
import { openRules } from './open.ts';
import { findFailingCases } from './own_cases.ts';
import { locateProblems } from './places.ts';
import { limitProblems, PolicySetError, type PolicySetProblem } from './policy_set_error.ts';

/**
 * Reads policy folders, and has each pass the cases in it. That takes a compilation, which is kept for whoever asks for
 * it next: nothing is compiled twice for the cases.
 */
export class FolderReader {
  /** What was compiled for the cases last, and the digest of its rules. */
  #kept: { digest: string; compiled: CompiledRules } | undefined;
  /** Digest of the base and cases that passed last: a folder is read twice to see whether it has settled. */
  #passed: string | undefined;

  /**
   * Reads a folder. One without cases is unchecked beyond what reading takes; one with cases is refused when it does
   * not compile, when a case fails, and when a file of cases is none.
   * @throws the file system's own error when the folder, or a file in it, cannot be read.
   */
  async read(directory: string): Promise<FolderReading> {
    const reading = await readPolicyFolder(directory);
    if (reading.kind === 'refused') return reading;
    try {
      const files = await loadCases(directory);
      if (files.length > 0) this.#check(reading, files);
      return reading;
    } catch (error) {
      if (!(error instanceof PolicySetError)) throw error;
      return { kind: 'refused', problems: limitProblems(error.problems) };
    }
  }

  /** Compiles rules, or gives what was kept of them. What was kept of others is dropped: it would be held for nothing. */
  compile(rules: Rules): Compilation {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept?.digest === digestOf(rules)) return { kind: 'compiled', compiled: kept.compiled };
    return compileRules(rules);
  }

  /** @throws PolicySetError when the base does not compile, or a case fails. */
  #check({ base, places }: Extract<FolderReading, { kind: 'read' }>, files: LoadedCases[]): void {
    const rules: Rules = { ...NOTHING_OF_ITS_OWN, base };
    const digest = digestOf(rules);
    const checked = sha256Hex(`${digest} ${JSON.stringify(files)}`);
    if (checked === this.#passed) return;
    this.#kept = undefined;
    const compilation = compileRules(rules);
    if (compilation.kind === 'refused') {
      throw new PolicySetError(locateProblems(compilation.problems, places));
    }
    const set = openRules(compilation.compiled);
    // The set gives back what it parsed, and leaves what was compiled as it was.
    let failing: PolicySetProblem[];
    try {
      failing = findFailingCases(set, base, files);
    } finally {
      set.dispose();
    }
    if (failing.length > 0) throw new PolicySetError(failing);
    this.#passed = checked;
    this.#kept = { digest, compiled: compilation.compiled };
  }
}

/** SHA-256 of rules; equal for equal rules, however their members are ordered. */
function digestOf({ base, policies, tools, permissions }: Rules): string {
  const named: JsonObject[] = permissions.map(({ pattern, permission }) => ({ pattern, permission }));
  return sha256Hex(
    canonicalize({
      base: { policies: base.policies, tools: base.tools },
      policies,
      tools,
      permissions: named,
    }),
  );
}
