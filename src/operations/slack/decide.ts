import type { Approval } from '../../core/approval.ts';
import type { Caller } from '../../core/caller.ts';
import { sha256Hex } from '../../core/digest.ts';
import { Fault } from '../../core/fault.ts';
import { parseId } from '../../core/ids.ts';
import type { SlackButtonValue } from '../../core/slack_button.ts';
import { approve } from '../approve.ts';
import { guardAttempts } from '../attempts.ts';
import type { Deps } from '../deps.ts';
import { reject } from '../reject.ts';
import { ONCE } from '../widen.ts';
import { DISABLED, FROZEN, KEYLESS, tellRefusal, tellUnmapped, tellVote } from './answers.ts';

/** A button that somebody pressed, as Slack has vouched for it. */
export interface SlackClick {
  slackUser: string;
  decision: 'approve' | 'reject';
  /** What was shown beside the button. */
  shown: SlackButtonValue;
}

type FoundCaller = { caller: Caller } | { refusal: string };

/** The principal that an operator has mapped a Slack user to, as an approver and nothing else, with a key that stands. */
async function findCaller(deps: Deps, tenantId: string, slackUser: string): Promise<FoundCaller> {
  const fresh = { keyId: deps.newUuid(), tokenHash: sha256Hex(deps.newSecret()) };
  const found = await deps.slack.findUserKey(tenantId, slackUser, fresh);
  switch (found.kind) {
    case 'unmapped':
      return { refusal: tellUnmapped(slackUser) };
    case 'disabled':
      return { refusal: DISABLED };
    case 'keyless':
      return { refusal: KEYLESS };
    case 'key': {
      const caller = await deps.keys.findCaller(found.tokenHash);
      if (caller === undefined) return { refusal: KEYLESS };
      return caller.frozen ? { refusal: FROZEN } : { caller: { ...caller, roles: ['approver'] } };
    }
  }
}

function vote(deps: Deps, caller: Caller, { decision, shown }: SlackClick): Promise<Approval> {
  const viewHash = shown.view_hash ?? undefined;
  if (decision === 'reject') {
    // A no is not refused because other rules would show the action otherwise.
    return reject(deps, caller, shown.approval_id, {
      reason: undefined,
      viewHash: undefined,
      ifMatch: shown.version,
    });
  }
  if (viewHash === undefined) {
    throw new Fault('view_hash_mismatch', 'the action was not shown whole. Approve it in the console');
  }
  return approve(deps, caller, shown.approval_id, {
    actionHash: shown.action_hash,
    viewHash,
    reason: undefined,
    ifMatch: shown.version,
    widening: ONCE,
  });
}

/** The approval as it stands now, where that can be read. */
function findNow(deps: Deps, caller: Caller, id: string): Promise<Approval | undefined> {
  const approvalId = parseId('approval', id);
  if (approvalId === undefined) return Promise.resolve(undefined);
  return deps.approvals.find(caller.tenantId, approvalId).catch(() => undefined);
}

/**
 * Casts the vote that a button stands for, in the name of the principal that the Slack user is mapped to, on exactly
 * the version, the action and the view that the message showed. What is returned is said to whoever clicked: whether it
 * counts, and if not that nothing was decided, and why.
 * @throws Fault `unavailable`.
 */
export async function decideFromSlack(deps: Deps, tenantId: string, click: SlackClick): Promise<string> {
  const found = await findCaller(deps, tenantId, click.slackUser);
  if ('refusal' in found) return found.refusal;
  const { caller } = found;
  const id = click.shown.approval_id;
  try {
    return tellVote(await guardAttempts(deps, caller, id, async () => vote(deps, caller, click)), caller);
  } catch (error) {
    if (!(error instanceof Fault) || error.code === 'unavailable') throw error;
    return tellRefusal(error, await findNow(deps, caller, id), caller);
  }
}
