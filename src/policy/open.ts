import type { PolicySet } from '../core/policy.ts';
import type { CompiledRules } from './compile.ts';
import { decide, isCommand, type LoadedSet, settleAsk } from './decide.ts';
import { explain } from './explain.ts';
import { judgeApprover } from './judge_approver.ts';
import { judgeResume } from './judge_resume.ts';
import { OpenSlices } from './open_slices.ts';
import { openRegistry } from './registry.ts';

/** A set that holds parsed policies outside of JavaScript's memory. */
export interface OpenPolicySet extends PolicySet {
  /** Gives them back. FAIL CLOSED: from then on everything is denied or refused. */
  dispose(): void;
}

/**
 * Opens compiled rules on this thread: a matter of milliseconds, whatever their number, since a slice of policies is
 * parsed when the first call consults it. A set that is dropped without `dispose` gives back what it holds when it
 * is collected.
 */
export function openRules(compiled: CompiledRules): OpenPolicySet {
  const { revision, tools, permissions, groupDemands, policies } = compiled;
  const slices = new OpenSlices(policies);
  const set: LoadedSet = {
    revision,
    registry: openRegistry(tools, permissions),
    // Refers to the slices as a whole: while anybody can consult them, they are not collected.
    getSlice: (sliceId, principal) => slices.get(sliceId, principal),
  };
  return {
    revision,
    groupDemands,
    isCommand: (toolCall) => isCommand(set, toolCall),
    decide: (request) => decide(set, request),
    settleAsk: (request, ask, standing) => settleAsk(set, request, ask, standing),
    judgeApprover: (request) => judgeApprover(set, request),
    judgeResume: (request) => judgeResume(set, request),
    explain: (request, standing) => explain(set, request, standing),
    dispose: () => slices.dispose(),
  };
}
