import { canonicalize } from './canonical_json.ts';
import type { Requirements, VoteScope } from './policy.ts';
import type { VoteSignature } from './vote_signature.ts';

/** What a signed vote says, whole: nothing that the vote is bound to is left to whoever keeps it. */
export interface VoteStatement {
  v: 1;
  tenant: string;
  approval_id: string;
  version: number;
  approver: string;
  decision: 'approve' | 'reject';
  scope: VoteScope;
  window_seconds: number | null;
  max_uses: number | null;
  agent: string;
  workspace: string | null;
  environment: string | null;
  session_id: string | null;
  action_hash: string;
  view_hash: string;
  tool_facts_hash: string;
  policy_revision: string;
  requirements: Requirements;
  expires_at: string;
  /** 32 random bytes in base64url. */
  nonce: string;
}

/** An assertion that was verified, and what its vote spends. */
export interface VoteProof {
  signature: VoteSignature;
  /** The SHA-256 of the statement, as given to the authenticator; base64url. */
  challenge: string;
  /** The passkey's counter after this use. */
  counter: number;
}

/** The text whose SHA-256 is signed (RFC 8785). */
export function writeVoteStatement(statement: VoteStatement): string {
  return canonicalize({ ...statement, requirements: { ...statement.requirements } });
}

/** The statement that was signed, as `writeVoteStatement` wrote it. */
export function readVoteStatement({ statement }: Pick<VoteSignature, 'statement'>): VoteStatement {
  return JSON.parse(statement) as VoteStatement;
}
