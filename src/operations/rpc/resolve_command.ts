import { type Approval, assertActionHash, assertState } from '../../core/approval.ts';
import type { Caller } from '../../core/caller.ts';
import { Fault } from '../../core/fault.ts';
import { offeredScopes } from '../../core/grant.ts';
import { getReadable } from '../access.ts';
import { approve } from '../approve.ts';
import type { Deps } from '../deps.ts';
import { reject } from '../reject.ts';
import { ONCE, type Widening } from '../widen.ts';

/** How far a person wants their yes to hold. */
export type WantedScope = 'once' | 'session' | 'allowlist';

export type Resolution = { reason: string | undefined; actionHash: string | undefined } & (
  | { decision: 'approve'; scope: WantedScope }
  | { decision: 'reject' }
);

/** What a resolution came to. */
export interface Resolved {
  approval: Approval;
  /** The scope that was had; null for a no. */
  applied: WantedScope | null;
}

/** As far as the approval's own terms let a yes hold: a session's is had once where there is none, or policy caps it. */
function clamp(approval: Approval, wanted: WantedScope): WantedScope {
  if (wanted !== 'session') return wanted;
  return offeredScopes(approval.maxScope, approval.context).includes('session') ? wanted : 'once';
}

function toWidening(scope: WantedScope): Widening {
  return { ...ONCE, scope };
}

async function approveAsFarAsMayBe(
  deps: Deps,
  caller: Caller,
  id: string,
  approval: Approval,
  resolution: Extract<Resolution, { decision: 'approve' }>,
): Promise<Resolved> {
  const vote = (scope: WantedScope): Promise<Approval> => {
    const { actionHash, reason } = resolution;
    return approve(deps, caller, id, {
      actionHash,
      viewHash: undefined,
      reason,
      ifMatch: undefined,
      widening: toWidening(scope),
    });
  };
  const scope = clamp(approval, resolution.scope);
  try {
    return { approval: await vote(scope), applied: scope };
  } catch (error) {
    // Policy has the last word on how far this approver may go.
    const isTooWide = error instanceof Fault && error.code === 'scope_not_allowed';
    if (scope !== 'session' || !isTooWide) throw error;
    return { approval: await vote('once'), applied: 'once' };
  }
}

/**
 * A person's word on an approval that waits. A yes for the session is clamped to what may be had; one for the
 * allowlist is had as it is or refused.
 * @throws Fault as `approve` and `reject`.
 */
export async function resolveCommand(
  deps: Deps,
  caller: Caller,
  id: string,
  resolution: Resolution,
): Promise<Resolved> {
  const approval = await getReadable(deps, caller, id);
  assertState(approval, 'decide');
  if (resolution.decision === 'approve') return approveAsFarAsMayBe(deps, caller, id, approval, resolution);
  const { actionHash, reason } = resolution;
  assertActionHash(approval, actionHash);
  // A no to certain bytes is not one to what they were edited into meanwhile.
  const ifMatch = actionHash === undefined ? undefined : approval.version;
  return {
    approval: await reject(deps, caller, id, { reason, viewHash: undefined, ifMatch }),
    applied: null,
  };
}
