import type { Approval } from '../../core/approval.ts';
import type { Caller } from '../../core/caller.ts';
import { Fault } from '../../core/fault.ts';
import { readVoteStatement, type VoteProof, type VoteStatement } from '../../core/vote_statement.ts';
import {
  type AssertionResponse,
  challengeSpent,
  passkeyRefused,
  signatureInvalid,
} from '../../core/webauthn_ports.ts';
import type { Deps } from '../deps.ts';
import { readClientData } from './client_data.ts';
import { relyingPartyOf } from './relying_party.ts';
import { verifyAssertion } from './verify_assertion.ts';
import { type Ballot, findStatementFault } from './vote_statement.ts';

/** What came with a vote as its signature. */
export type GivenProof =
  | { kind: 'none' }
  | { kind: 'refused'; fault: Fault }
  | { kind: 'verified'; statement: VoteStatement; proof: VoteProof };

function refused(fault: Fault): GivenProof {
  return { kind: 'refused', fault };
}

/**
 * Verifies the signature that came with a vote, against what was given to this caller to sign for this approval. Says
 * why one is refused rather than throw: the vote's own checks come first. Whether what was signed is this vote, on the
 * approval as it stands, is judged under its lock, and only there is the challenge spent.
 */
export async function examineProof(
  deps: Deps,
  caller: Caller,
  approvalId: string,
  assertion: AssertionResponse | undefined,
): Promise<GivenProof> {
  if (assertion === undefined) return { kind: 'none' };
  const { tenantId, principal } = caller;
  const { clientDataJSON, authenticatorData, signature } = assertion.response;
  const challenge = readClientData(clientDataJSON)?.challenge;
  const given =
    challenge === undefined ? undefined : await deps.passkeys.findChallenge(tenantId, principal, challenge);
  if (challenge === undefined || given?.statement == null || given.approvalId !== approvalId) {
    return refused(challengeSpent());
  }
  const passkeys = await deps.passkeys.list(tenantId, principal);
  const passkey = passkeys.find(({ credentialId }) => credentialId === assertion.id);
  if (passkey === undefined || assertion.rawId !== assertion.id) return refused(passkeyRefused());
  const party = relyingPartyOf(deps);
  const verdict = await verifyAssertion(
    { credentialId: assertion.id, clientDataJson: clientDataJSON, authenticatorData, signature },
    { challenge, party, publicKey: passkey.publicKey, counter: passkey.counter },
  );
  if (verdict.kind === 'refused') {
    return refused(
      signatureInvalid(`the signature is refused: ${verdict.reason}. Get new options and sign those`),
    );
  }
  return {
    kind: 'verified',
    statement: readVoteStatement({ statement: given.statement }),
    proof: {
      challenge,
      counter: verdict.counter,
      signature: {
        statement: given.statement,
        credential_id: passkey.credentialId,
        public_key: passkey.publicKey,
        client_data_json: clientDataJSON,
        authenticator_data: authenticatorData,
        signature,
        rp_id: party.rpId,
        origin: party.origin,
      },
    },
  };
}

/** Why a vote's signature does not stand for this ballot on the approval as it stands; undefined when it does, or none came. */
export function findProofFault(
  given: GivenProof,
  approval: Approval,
  caller: Caller,
  ballot: Ballot,
): Fault | undefined {
  if (given.kind === 'none') return undefined;
  if (given.kind === 'refused') return given.fault;
  return findStatementFault(given.statement, approval, caller, ballot);
}

/**
 * The proof to store with a vote, null for an unsigned one. A signature that came must stand, whether asked for or not.
 * @throws Fault `signature_invalid`; `stale_version`, `policy_changed`, `view_hash_mismatch` where it was given for the
 *   approval as it is no longer.
 */
export function takeProof(
  given: GivenProof,
  approval: Approval,
  caller: Caller,
  ballot: Ballot,
): VoteProof | null {
  const fault = findProofFault(given, approval, caller, ballot);
  if (fault !== undefined) throw fault;
  return given.kind === 'verified' ? given.proof : null;
}

/** @throws Fault `signature_required` when policy asks for a signature and none came (FAIL CLOSED). */
export function assertSignedWhereAsked(given: GivenProof, approval: Approval): void {
  if (approval.requirements.signature === 'none' || given.kind !== 'none') return;
  throw new Fault(
    'signature_required',
    'policy wants this vote signed with a passkey. Get options with `POST /v1/approvals/:id/signature-options`, sign them, and send what the passkey answers as `signature`; the console does all three',
    { members: { approval_status: approval.status } },
  );
}
