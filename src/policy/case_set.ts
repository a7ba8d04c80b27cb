import type { PolicySet } from '../core/policy.ts';
import type { BaseRules } from '../core/rules.ts';
import type { CaseFile } from './case_file.ts';
import { compileRules } from './compile.ts';
import { openRules } from './open.ts';
import { PolicySetError } from './policy_set_error.ts';

/**
 * The set that a file's cases are about: the folder's, or, where the file brings tools or permissions of its own, the
 * folder's with these added, as a tenant would add them.
 * @throws PolicySetError when they do not fit.
 */
export function openCaseSet(set: PolicySet, base: BaseRules, file: CaseFile): PolicySet {
  const { tools, permissions } = file;
  if (tools.length === 0 && permissions.length === 0) return set;
  const compilation = compileRules({ base, policies: {}, tools, permissions });
  if (compilation.kind === 'refused') throw new PolicySetError(compilation.problems);
  return openRules(compilation.compiled);
}
