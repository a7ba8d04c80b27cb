import { canonicalize } from '../../../src/core/canonical_json.ts';
import type { Connection } from './connection.ts';
import { definedMembers } from './defined.ts';
import { IntegrityError } from './errors.ts';
import { readApproval, readAuthorize, readConsume, readScrub } from './read_answer.ts';
import { toJsonValue } from './to_json_value.ts';
import type {
  Approval,
  AuthorizeAnswer,
  AuthorizeContext,
  ConsumeAnswer,
  ConsumeInput,
  OutcomeInput,
  ScrubAnswer,
} from './wire.ts';

/** The calls that both the client's methods and the guarded functions make, with what makes each safe to repeat. */

/** Cuts a call short: the promise rejects with the signal's reason. */
export interface RequestOptions {
  signal?: AbortSignal | undefined;
}

/** A body as JSON text: members that are `undefined` are left out, everything inside is converted strictly. */
export function toBody(input: object): string {
  return canonicalize(toJsonValue(definedMembers(input)));
}

/** The path of an approval. An id that could change the path is misuse. */
export function approvalPath(approvalId: string): string {
  if (typeof approvalId !== 'string' || !/^[A-Za-z0-9_-]{1,128}$/.test(approvalId)) {
    throw new TypeError('the approval id is not an id. Pass it as the service gave it');
  }
  return `/v1/approvals/${approvalId}`;
}

/** Throws a `TypeError` unless the value is a whole number from 0, in a query or a header as it is in JSON. */
export function assertWhole(name: string, value: unknown, max: number = Number.MAX_SAFE_INTEGER): void {
  if (!Number.isSafeInteger(value) || (value as number) < 0 || (value as number) > max) {
    throw new TypeError(`\`${name}\` is not a whole number from 0 to ${max}`);
  }
}

/** What any runtime sends in a header as it stands. The service knows which of these are keys. */
const HEADER_VALUE = /^[!-~](?:[ -~]*[!-~])?$/;

/** The longest wait the service takes. */
const WAIT_SECONDS_MAX = 55;

export interface AuthorizeCall {
  /** The canonical text of the action; sent as it stands. */
  text: string;
  /** SHA-256 of the text. */
  hash: string;
  context: AuthorizeContext | undefined;
  dryRun: boolean;
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Asks for a decision and checks that it is about this very action. Repeatable under an `Idempotency-Key` only:
 * otherwise a second attempt would make a second approval.
 */
export async function sendAuthorize(connection: Connection, call: AuthorizeCall): Promise<AuthorizeAnswer> {
  if (call.idempotencyKey !== undefined && !HEADER_VALUE.test(call.idempotencyKey)) {
    throw new TypeError('`idempotencyKey` is not printable ascii text');
  }
  const rest = toBody({ action_hash: call.hash, context: call.context, dry_run: call.dryRun });
  const { body } = await connection.send({
    what: 'authorize',
    method: 'POST',
    path: '/v1/authorize',
    body: `{"tool_call":${call.text},${rest.slice(1)}`,
    headers: call.idempotencyKey === undefined ? undefined : { 'idempotency-key': call.idempotencyKey },
    repeatable: call.idempotencyKey !== undefined,
    signal: call.signal,
  });
  const answer = readAuthorize(body);
  if (answer.action_hash !== call.hash || answer.dry_run !== call.dryRun) {
    throw new IntegrityError('authorize: the answer is about another action', { decision: answer });
  }
  return answer;
}

/** The most that is scrubbed at once. */
const SCRUB_BYTES_MAX = 1024 * 1024;

/** Repeatable: nothing is kept of it. An answer without a verdict that is known here counts as none (FAIL CLOSED). */
export async function sendScrub(
  connection: Connection,
  bytes: Uint8Array,
  options: RequestOptions,
): Promise<ScrubAnswer> {
  if (!(bytes instanceof Uint8Array) || bytes.length > SCRUB_BYTES_MAX) {
    throw new TypeError(`what is scrubbed is not bytes, at most ${SCRUB_BYTES_MAX} of them`);
  }
  const answer = await connection.sendForBytes({
    what: 'scrub',
    method: 'POST',
    path: '/v1/scrub',
    // A copy: the caller's bytes may change while they are sent.
    body: new Uint8Array(bytes),
    repeatable: true,
    signal: options.signal,
  });
  return readScrub(answer.headers.get('aegis-scrub-verdict'), answer.bytes);
}

export interface GetApprovalOptions extends RequestOptions {
  /** How long the service may hold the answer while the approval is pending: 0 to 55 seconds. */
  waitSeconds?: number | undefined;
  /** Answer at once when the approval's version is another. */
  version?: number | undefined;
}

export async function sendGetApproval(
  connection: Connection,
  approvalId: string,
  options: GetApprovalOptions,
): Promise<Approval> {
  const query = new URLSearchParams();
  if (options.waitSeconds !== undefined) {
    assertWhole('waitSeconds', options.waitSeconds, WAIT_SECONDS_MAX);
    query.set('wait', String(options.waitSeconds));
  }
  if (options.version !== undefined) {
    assertWhole('version', options.version);
    query.set('version', String(options.version));
  }
  const { body } = await connection.send({
    what: 'get approval',
    method: 'GET',
    path: `${approvalPath(approvalId)}${query.size === 0 ? '' : `?${query}`}`,
    repeatable: true,
    signal: options.signal,
    holdMs: (options.waitSeconds ?? 0) * 1000,
  });
  return readApproval('get approval', body, approvalId);
}

/** Repeatable with a token only, with which a lost answer is asked for again (SINGLE CONSUME). */
export async function sendConsume(
  connection: Connection,
  approvalId: string,
  input: ConsumeInput,
  options: RequestOptions,
): Promise<{ answer: ConsumeAnswer; answersLost: number }> {
  const { body, answersLost } = await connection.send({
    what: 'consume',
    method: 'POST',
    path: `${approvalPath(approvalId)}/consume`,
    body: toBody(input),
    repeatable: input.consumer_token !== undefined,
    signal: options.signal,
  });
  return { answer: readConsume(body, approvalId), answersLost };
}

/**
 * Reports an outcome. It counts once, so repeating it is safe; after a lost answer "already reported" is what the
 * lost attempt did, provided that the outcome on record is this one.
 */
export async function sendOutcome(
  connection: Connection,
  approvalId: string,
  input: OutcomeInput,
  options: RequestOptions & { answersLostBefore?: boolean },
): Promise<Approval> {
  const end = await connection.exchange({
    what: 'report outcome',
    method: 'POST',
    path: `${approvalPath(approvalId)}/outcome`,
    body: toBody(input),
    repeatable: true,
    signal: options.signal,
  });
  if (!('error' in end)) {
    return readApproval('report outcome', end.body, approvalId);
  }
  const mayBeOurs = end.answersLost > 0 || options.answersLostBefore === true;
  if (end.error.problem?.code !== 'outcome_already_reported' || !mayBeOurs) {
    throw end.error;
  }
  const approval = await sendGetApproval(connection, approvalId, options);
  if (approval.outcome?.outcome !== input.outcome) {
    throw end.error;
  }
  return approval;
}
