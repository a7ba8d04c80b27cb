import * as z from 'zod';
import { Fault, type FaultIssue } from '../../core/fault.ts';
import { VOTE_SCOPES } from '../../core/policy.ts';
import { WINDOW_SECONDS_MAX, WINDOW_USES_MAX } from '../../core/vote_limits.ts';
import type { Widening } from '../../operations/widen.ts';
import { sha256 } from './common.ts';

// Members that votes, and what is signed for them, share.

/** The view that is voted on. */
export const viewHash = sha256.nullish().meta({
  description: 'the `view_hash` of the `review` that was shown; a vote with it counts for that view only',
});

export const wideningMembers = {
  scope: z.enum(VOTE_SCOPES).nullish(),
  window_seconds: z.int().min(1).max(WINDOW_SECONDS_MAX).nullish(),
  max_uses: z.int().min(1).max(WINDOW_USES_MAX).nullish(),
};

interface SentWidening {
  scope?: Widening['scope'] | null | undefined;
  window_seconds?: number | null | undefined;
  max_uses?: number | null | undefined;
}

/** Whether `window_seconds` and `max_uses` stand with a window, and only there. */
function findWindowIssues(body: SentWidening): FaultIssue[] {
  const isWindow = body.scope === 'window';
  return (['window_seconds', 'max_uses'] as const)
    .filter((member) => (body[member] == null) === isWindow)
    .map((member) => ({
      pointer: `/${member}`,
      reason: isWindow ? 'is required with the scope `window`' : 'goes with the scope `window` only',
    }));
}

/** How far a vote is to hold. @throws Fault `invalid_request`. */
export function readWidening(body: SentWidening): Widening {
  const issues = findWindowIssues(body);
  if (issues.length > 0) {
    throw new Fault('invalid_request', 'the scope cannot be had so. See `errors`', { issues });
  }
  return {
    scope: body.scope ?? 'once',
    windowSeconds: body.window_seconds ?? null,
    maxUses: body.max_uses ?? null,
  };
}
