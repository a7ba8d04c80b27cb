import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';
import { type Approval, assertState, assertVersion } from '../../core/approval.ts';
import type { ApprovalChange, LockedApproval } from '../../core/approval_ports.ts';
import type { Caller } from '../../core/caller.ts';
import { Fault } from '../../core/fault.ts';
import type { PolicySet } from '../../core/policy.ts';
import { areRequirementsMet } from '../../core/requirements.ts';
import { writeVoteStatement } from '../../core/vote_statement.ts';
import type { Passkey } from '../../core/webauthn_ports.ts';
import { assertLockedReadable, parseApprovalId } from '../access.ts';
import { assertFillsPlace } from '../approve.ts';
import type { Deps } from '../deps.ts';
import { examineDrift, policyChanged } from '../drift.ts';
import { assertLearnable } from '../exec_approvals/learn.ts';
import { assertPermitted } from '../redecide.ts';
import { assertViewHash } from '../review.ts';
import { transitionByRules } from '../transition.ts';
import { assertMayWiden, assertPlaced } from '../widen.ts';
import { loadLibrary } from './library.ts';
import { hashToBase64url, newNonce, relyingPartyOf } from './relying_party.ts';
import { type Ballot, stateVote } from './vote_statement.ts';

/** How long a person has to sign. */
const SIGNING_SECONDS = 300;
const MS_PER_SECOND = 1000;

export interface SignatureOptionsInput {
  ballot: Ballot;
  /** The view that the approver was shown. */
  viewHash: string | undefined;
  /** The version the approver looked at (`If-Match`). */
  ifMatch: number | undefined;
}

export interface SignatureOptions {
  /** For `navigator.credentials.get`. */
  options: PublicKeyCredentialRequestOptionsJSON;
  /** The canonical statement, whose SHA-256 is the challenge. */
  statement: string;
  expiresAt: Date;
}

/** Options for an assertion by one of these passkeys, over a challenge in base64url. */
export async function requestAssertion(
  deps: Deps,
  passkeys: readonly Passkey[],
  challenge: string,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await loadLibrary();
  return generateAuthenticationOptions({
    rpID: relyingPartyOf(deps).rpId,
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    allowCredentials: passkeys.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
    userVerification: 'required',
    timeout: SIGNING_SECONDS * MS_PER_SECOND,
  });
}

/** @throws Fault `approver_not_eligible` where a first vote of the caller would fill no place. */
function assertLeftPlace({ requirements, votes }: Approval, { principal, groups }: Caller): void {
  if (votes.some(({ approver }) => approver === principal) || areRequirementsMet(requirements, votes)) return;
  assertFillsPlace(requirements, votes, { approver: principal, groups });
}

/** Refuses what the vote itself would be refused for, so that nobody signs in vain, and brings the terms up to date. */
function judge(
  deps: Deps,
  policy: PolicySet,
  caller: Caller,
  locked: LockedApproval,
  input: SignatureOptionsInput,
): ApprovalChange[] {
  const { approval } = locked;
  const { ballot } = input;
  assertState(approval, 'decide');
  assertVersion(approval, input.ifMatch);
  assertViewHash(approval, input.viewHash, caller);
  if (ballot.decision === 'reject') {
    assertPermitted(policy, approval, 'reject', caller);
    return [];
  }
  assertPlaced(approval, ballot);
  assertLearnable(locked, ballot.scope);
  const drift = examineDrift(deps, policy, locked, caller);
  if (drift.kind === 'voided') return drift.changes;
  assertPermitted(policy, drift.approval, 'approve', caller);
  assertMayWiden(policy, drift.approval, ballot, caller);
  assertLeftPlace(drift.approval, caller);
  return drift.changes;
}

function assertGoesOn(approval: Approval, input: SignatureOptionsInput, caller: Caller): void {
  if (approval.status === 'voided') throw policyChanged();
  assertViewHash(approval, input.viewHash, caller);
}

/**
 * What one of the caller's passkeys has to sign for a vote: the statement of the vote on the approval as it stands,
 * good for one vote within five minutes.
 * @throws Fault as the vote itself would; `forbidden` for who has no passkey.
 */
export async function createSignatureOptions(
  deps: Deps,
  caller: Caller,
  id: string,
  input: SignatureOptionsInput,
): Promise<SignatureOptions> {
  const approvalId = parseApprovalId(id);
  const approval = await transitionByRules(deps, caller, approvalId, (policy, locked, voter) =>
    judge(deps, policy, voter, assertLockedReadable(locked, caller), input),
  );
  assertGoesOn(approval, input, caller);
  const { tenantId, principal } = caller;
  const passkeys = await deps.passkeys.list(tenantId, principal);
  if (passkeys.length === 0) {
    throw new Fault(
      'forbidden',
      'you have no passkey to sign with. Ask an operator for an enrolment code, then register one with `POST /v1/webauthn/registrations` or in the console',
    );
  }
  const statement = writeVoteStatement(stateVote(approval, caller, input.ballot, newNonce(deps)));
  const challenge = hashToBase64url(statement);
  const expiresAt = await deps.passkeys.openChallenge({
    tenantId,
    principal,
    challenge,
    purpose: 'vote',
    approvalId,
    statement,
    codeHash: null,
    lifeSeconds: SIGNING_SECONDS,
    notAfter: approval.expiresAt,
  });
  return { options: await requestAssertion(deps, passkeys, challenge), statement, expiresAt };
}
