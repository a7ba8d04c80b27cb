import type { Caller } from '../core/caller.ts';
import { notFound } from '../core/common_faults.ts';
import { parseId } from '../core/ids.ts';
import type { Deps } from './deps.ts';

/** Lifts one rejection: the action may be asked for again. @throws Fault `not_found`, also for one that was lifted. */
export async function liftDenial(deps: Deps, caller: Caller, id: string): Promise<void> {
  const denialId = parseId('denial', id);
  if (denialId === undefined) throw notFound();
  await deps.denials.lift(caller, denialId);
}
