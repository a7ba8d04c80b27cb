import { canonicalize } from './canonical_json.ts';
import type { Requirements, VoteScope } from './policy.ts';

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

/** An assertion over a statement, with all that it takes to verify it elsewhere. Binary members are base64url. */
export interface VoteSignature {
  /** The canonical statement; its SHA-256 is the challenge that was signed. */
  statement: string;
  credential_id: string;
  /** COSE key (RFC 9053 §7). */
  public_key: string;
  client_data_json: string;
  authenticator_data: string;
  signature: string;
  /** What the authenticator vouched for: the relying party's id and the page's origin. */
  rp_id: string;
  origin: string;
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
