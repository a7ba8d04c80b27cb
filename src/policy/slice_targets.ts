import { listVariants } from './facts_by.ts';
import { APPROVAL_ACTIONS, ASK_ACTION, RESUME_ACTION } from './model.ts';
import { type Operation, unregisteredOperation } from './operation.ts';
import type { SliceTarget } from './slices.ts';

/**
 * Every slice that a decision can consult: of each operation, one for all its variants that are in the same groups;
 * of what nobody registered; of the second word on an ask; of each action of those who decide.
 */
export function listSliceTargets(operations: readonly Operation[]): SliceTarget[] {
  const ofCalls = [...operations, unregisteredOperation('', '')].flatMap(
    ({ actionId, variants, command }) => {
      const bySlice = new Map(listVariants(variants).map(({ sliceId, groups }) => [sliceId, groups]));
      return [...bySlice].map(([sliceId, groups]) => ({
        sliceId,
        actionId,
        groups,
        hasCommand: command !== null,
      }));
    },
  );
  const alone = [ASK_ACTION, ...APPROVAL_ACTIONS, RESUME_ACTION];
  return [...ofCalls, ...alone.map((id) => ({ sliceId: id, actionId: id, groups: [], hasCommand: true }))];
}
