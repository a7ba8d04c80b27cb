import type { PolicyTexts, Rules, RulesProblem } from '../core/rules.ts';
import type { Flip, PastCall, Refused } from '../core/rules_ports.ts';
import { type Compilation, compileRules } from './compile.ts';
import { FolderReader } from './folder_reader.ts';
import type { FolderReading } from './load.ts';
import { type OpenPolicySet, openRules } from './open.ts';
import { type PolicyPlaces, placesOf } from './places.ts';
import { findRepeatedIds, splitPolicyText } from './policy_text.ts';
import { findFlips } from './simulate.ts';

export type TextReading =
  | { kind: 'split'; policies: PolicyTexts; places: PolicyPlaces }
  | { kind: 'refused'; problems: RulesProblem[] };

/** What the compile thread does: name of a job, what it is given, and what it answers. */
export interface CompileJobs {
  /** Reads a policy folder, which has to pass the cases in it. */
  readFolder(directory: string): Promise<FolderReading>;
  splitText(text: string): TextReading;
  compile(rules: Rules): Compilation;
  /** Compiles rules and keeps them here, for `redecide`. */
  rehearse(rules: Rules): { kind: 'rehearsed' } | Refused;
  /** Decides past calls under the rules rehearsed last. */
  redecide(calls: PastCall[]): Flip[];
}

/** The jobs, with what is kept from one to another: the candidate of a simulation, and what a folder compiled to. */
export function createCompileJobs(): CompileJobs {
  let candidate: OpenPolicySet | undefined;
  const folders = new FolderReader();
  return {
    readFolder: (directory) => folders.read(directory),
    splitText: (text) => {
      const { policies, problems } = splitPolicyText(text, null);
      const found = [...problems, ...findRepeatedIds(policies)];
      if (found.length > 0) return { kind: 'refused', problems: found };
      const texts = Object.fromEntries(policies.map((policy) => [policy.id, policy.text]));
      return { kind: 'split', policies: texts, places: placesOf(policies) };
    },
    compile: (rules) => folders.compile(rules),
    rehearse: (rules) => {
      candidate?.dispose();
      candidate = undefined;
      const compilation = compileRules(rules);
      if (compilation.kind === 'refused') return compilation;
      candidate = openRules(compilation.compiled);
      return { kind: 'rehearsed' };
    },
    redecide: (calls) => {
      if (candidate === undefined) throw new Error('no rules were rehearsed');
      return findFlips(candidate, calls);
    },
  };
}
