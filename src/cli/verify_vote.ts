import * as z from 'zod';
import { canonicalize } from '../core/canonical_json.ts';
import { sha256Hex } from '../core/digest.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { OperatorError } from '../core/operator_error.ts';
import { parseStrictJson, StrictJsonError } from '../core/strict_json.ts';
import { voteSignatureOutput } from '../http/schemas/webauthn.ts';
import { hashToBase64url } from '../operations/webauthn/relying_party.ts';
import { verifyAssertion } from '../operations/webauthn/verify_assertion.ts';
import { readArguments } from './arguments.ts';
import type { Command, CommandGroup } from './command.ts';
import { describeInput, readJsonInput } from './input_file.ts';
import { type Terminal, toJsonText, visible } from './terminal.ts';

const USAGE = 'aegis verify-vote FILE|- [--key SHA256] [--origin URL] [--json]';
const BYTES_MAX = 4 * 1024 * 1024;

type Signature = z.output<typeof voteSignatureOutput>;

/** A signed vote as it was found, with what stands around it. */
interface FoundVote {
  signature: Signature;
  vote: JsonObject | null;
  approval: JsonObject | null;
}

/** What the caller holds to be true of the signer, from elsewhere. */
interface Pinned {
  key: string | undefined;
  origin: string | undefined;
}

interface Verdict {
  verified: boolean;
  /** Why not; null when it is. */
  reason: string | null;
  statement: JsonValue;
  credential_id: string;
  public_key_sha256: string;
  origin: string;
}

const voteShape = z.looseObject({ signature: voteSignatureOutput });
const unsignedShape = z.looseObject({ signature: z.null().optional() });
const approvalShape = z.looseObject({ approval_id: z.string(), votes: z.array(z.looseObject({})) });

/** The signed votes in an approval, a vote or a signature as the API answers them. */
function findVotes(json: JsonValue): FoundVote[] {
  const approval = approvalShape.safeParse(json);
  if (approval.success) {
    return approval.data.votes.flatMap((vote) => {
      if (unsignedShape.safeParse(vote).success) return [];
      const read = voteShape.safeParse(vote);
      // Passed over, it would look as if it had never been signed.
      if (!read.success) throw new OperatorError('a vote has a signature that cannot be read');
      return { signature: read.data.signature, vote: vote as JsonObject, approval: json as JsonObject };
    });
  }
  const vote = voteShape.safeParse(json);
  if (vote.success) return [{ signature: vote.data.signature, vote: json as JsonObject, approval: null }];
  const signature = voteSignatureOutput.safeParse(json);
  return signature.success ? [{ signature: signature.data, vote: null, approval: null }] : [];
}

/** The statement's members; undefined unless it is the canonical text of a statement of version 1. */
function readStatement(text: string): JsonObject | undefined {
  try {
    const read = parseStrictJson(text);
    return isJsonObject(read) && read.v === 1 && canonicalize(read) === text ? read : undefined;
  } catch (error) {
    if (error instanceof StrictJsonError) return undefined;
    throw error;
  }
}

/** The first member in which the record around a signature says something else than what was signed. */
function findContradiction(statement: JsonObject, { vote, approval }: FoundVote): string | undefined {
  const context = isJsonObject(approval?.context) ? approval.context : {};
  const said: [JsonObject | null, string[]][] = [
    [vote, ['approver', 'decision', 'scope']],
    [approval, ['approval_id', 'agent', 'action_hash']],
    [approval === null ? null : context, ['workspace', 'environment', 'session_id']],
  ];
  for (const [record, members] of said) {
    const other = members.find((member) => record !== null && record[member] !== statement[member]);
    if (other !== undefined) return other;
  }
  const text = approval?.canonical_action;
  return typeof text === 'string' && sha256Hex(text) !== statement.action_hash
    ? 'canonical_action'
    : undefined;
}

async function findFault(found: FoundVote, keyHash: string, pinned: Pinned): Promise<string | null> {
  const { signature } = found;
  const party = { rpId: signature.rp_id, origin: signature.origin };
  const verdict = await verifyAssertion(
    {
      credentialId: signature.credential_id,
      clientDataJson: signature.client_data_json,
      authenticatorData: signature.authenticator_data,
      signature: signature.signature,
    },
    { challenge: hashToBase64url(signature.statement), party, publicKey: signature.public_key, counter: 0 },
  );
  if (verdict.kind === 'refused') return `the signature is refused: ${verdict.reason}`;
  const statement = readStatement(signature.statement);
  if (statement === undefined) return 'what was signed is no statement of a vote';
  const contradiction = findContradiction(statement, found);
  if (contradiction !== undefined) return `the record's \`${contradiction}\` is not what was signed`;
  if (pinned.key !== undefined && pinned.key !== keyHash) return 'it is by another key than `--key`';
  if (pinned.origin !== undefined && pinned.origin !== signature.origin) {
    return 'it was made on a page of another origin than `--origin`';
  }
  return null;
}

async function judge(found: FoundVote, pinned: Pinned): Promise<Verdict> {
  const { signature } = found;
  const keyHash = sha256Hex(Buffer.from(signature.public_key, 'base64url'));
  const reason = await findFault(found, keyHash, pinned);
  return {
    verified: reason === null,
    reason,
    statement: readStatement(signature.statement) ?? null,
    credential_id: signature.credential_id,
    public_key_sha256: keyHash,
    origin: signature.origin,
  };
}

function print(terminal: Terminal, { verified, reason, statement, ...key }: Verdict): void {
  terminal.print(
    verified ? terminal.paint('green', 'verified') : terminal.paint('red', `NOT verified: ${reason}`),
  );
  const facts = { ...(isJsonObject(statement) ? statement : {}), ...key };
  for (const [name, value] of Object.entries(facts)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    terminal.print(visible(`  ${name.padEnd(17)}  ${text}`));
  }
}

/**
 * `aegis verify-vote`: verifies signed votes with nothing but the file: that this key signed exactly this statement, and
 * that the record names the same voter, vote, approval, action and place. Whose key it is, the file cannot prove:
 * compare its hash, or give it with `--key`. Unsigned votes beside signed ones are passed over.
 */
const verifyVote: Command = {
  usage: USAGE,
  summary:
    'verifies the signed votes in an approval, a vote or a signature as the API answers them, without the service; exits with 1 when one does not verify, with 2 when none is signed',
  run: async (args, terminal) => {
    const options = {
      key: { type: 'string' },
      origin: { type: 'string' },
      json: { type: 'boolean' },
    } as const;
    const { values, positionals } = readArguments(args, options, USAGE, { min: 1, max: 1 });
    const path = positionals[0] ?? '';
    const votes = findVotes(await readJsonInput(path, BYTES_MAX));
    if (votes.length === 0) throw new OperatorError(`${describeInput(path)} holds no signed vote`);
    const pinned = { key: values.key?.toLowerCase(), origin: values.origin };
    const verdicts = await Promise.all(votes.map((found) => judge(found, pinned)));
    if (values.json === true) terminal.print(toJsonText(verdicts));
    else for (const verdict of verdicts) print(terminal, verdict);
    return verdicts.every(({ verified }) => verified) ? 0 : 1;
  },
};

export const VERIFY_VOTE: CommandGroup = { name: 'verify-vote', commands: { 'verify-vote': verifyVote } };
