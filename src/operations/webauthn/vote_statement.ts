import type { Approval } from '../../core/approval.ts';
import type { Caller } from '../../core/caller.ts';
import { canonicalize } from '../../core/canonical_json.ts';
import { Fault } from '../../core/fault.ts';
import { formatId } from '../../core/ids.ts';
import { type VoteStatement, writeVoteStatement } from '../../core/vote_statement.ts';
import { signatureInvalid } from '../../core/webauthn_ports.ts';
import { maskerOf } from '../masking.ts';
import { reviewOf } from '../review.ts';
import type { Widening } from '../widen.ts';

/** What a voter says. */
export interface Ballot extends Widening {
  decision: 'approve' | 'reject';
}

/** The statement of a vote on an approval as it stands. */
export function stateVote(approval: Approval, caller: Caller, ballot: Ballot, nonce: string): VoteStatement {
  return {
    v: 1,
    tenant: approval.tenantId,
    approval_id: formatId('approval', approval.approvalId),
    version: approval.version,
    approver: caller.principal,
    decision: ballot.decision,
    scope: ballot.scope,
    window_seconds: ballot.windowSeconds,
    max_uses: ballot.maxUses,
    agent: approval.agent,
    workspace: approval.context.workspace,
    environment: approval.context.environment,
    session_id: approval.context.session_id,
    action_hash: approval.actionHash,
    view_hash: reviewOf(approval, maskerOf(caller)).view_hash,
    tool_facts_hash: approval.toolFactsHash,
    policy_revision: approval.policyRevision,
    requirements: approval.requirements,
    expires_at: approval.expiresAt.toISOString(),
    nonce,
  };
}

type Member = keyof VoteStatement;

/** What the voter says, and of which approval. */
const BALLOT: readonly Member[] = [
  'v',
  'tenant',
  'approval_id',
  'approver',
  'decision',
  'scope',
  'window_seconds',
  'max_uses',
];
/** What an edit changes. */
const VERSION: readonly Member[] = ['version', 'action_hash'];
/** What other rules change. */
const RULES: readonly Member[] = ['policy_revision', 'tool_facts_hash', 'requirements', 'expires_at'];

function pick(statement: VoteStatement, members: readonly Member[]): string {
  const { requirements, ...rest } = statement;
  const plain = { ...rest, requirements: { ...requirements } };
  return canonicalize(members.map((member) => plain[member]));
}

/** Why what was signed is not what this vote on the approval as it stands would be; undefined when it is. */
export function findStatementFault(
  signed: VoteStatement,
  approval: Approval,
  caller: Caller,
  ballot: Ballot,
): Fault | undefined {
  const present = stateVote(approval, caller, ballot, signed.nonce);
  if (writeVoteStatement(present) === writeVoteStatement(signed)) return undefined;
  const differ = (members: readonly Member[]): boolean => pick(present, members) !== pick(signed, members);
  const members = { approval_status: approval.status };
  if (differ(BALLOT)) {
    return signatureInvalid(
      'the signature is for another vote than this one. Send what was signed, or get options for this vote and sign those',
    );
  }
  if (differ(VERSION)) {
    return new Fault(
      'stale_version',
      'the approval was edited since the vote was signed. Read it again, get new options and sign those',
      { members },
    );
  }
  if (differ(RULES)) {
    return new Fault(
      'policy_changed',
      'policy has changed since the vote was signed, so it does not count. Read the approval, get new options and sign those',
      { members },
    );
  }
  return new Fault(
    'view_hash_mismatch',
    'what this approval shows is no longer what was signed. Read its `review`, get new options and sign those',
    { members },
  );
}
