import { freezeToolCall } from './action_spec.ts';
import type { RetryOptions } from './backoff.ts';
import {
  approvalPath,
  assertWhole,
  type GetApprovalOptions,
  type RequestOptions,
  sendAuthorize,
  sendConsume,
  sendGetApproval,
  sendOutcome,
  sendScrub,
  toBody,
} from './calls.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { sha256Hex } from './digest.ts';
import { OutcomeReporter, type ReportFailed } from './outcome_reporter.ts';
import {
  type DefaultOptions,
  type Guarded,
  type ProtectedFunction,
  type ProtectSpec,
  protect,
} from './protect.ts';
import { readApproval, readApprovalPage, readObject } from './read_answer.ts';
import type * as wire from './wire.ts';

export type { RetryOptions };

export interface ChangeOptions extends RequestOptions {
  /** Refuses, as a stale version, when the approval has another version by now. */
  ifMatchVersion?: number | undefined;
}

export interface AegisOptions extends ConnectionOptions {
  /** Called when the outcome of a guarded call could not be reported. */
  onReportFailed?: ReportFailed | undefined;
}

/**
 * A client of the approval service, one method per endpoint, with the contract's wire names. Every method throws an
 * `AegisError` for whatever is not a 2xx answer that can be read, and the signal's reason when it is aborted.
 * Repeated by itself after a lost answer is only what cannot take effect twice: reads, a consume with its token, an
 * authorize with its idempotency key, and the outcome, which counts once.
 */
export class Aegis {
  readonly #connection: Connection;
  readonly #reporter: OutcomeReporter;

  /** Throws a `TypeError` when an option cannot be used. */
  constructor(options: AegisOptions) {
    this.#connection = new Connection(options);
    this.#reporter = new OutcomeReporter(this.#connection, options.onReportFailed);
  }

  /**
   * A function that asks before it runs `fn`, and runs it on exactly what was decided. Its errors are `AegisError`
   * when `fn` did not run, a `TypeError` when the parameters are not JSON, and otherwise `fn`'s own.
   */
  protect<P extends object, R>(
    spec: ProtectSpec<P>,
    fn: ProtectedFunction<P, R>,
    options?: DefaultOptions,
  ): Guarded<P, Awaited<R>> {
    return protect(this.#connection, this.#reporter, spec, fn as ProtectedFunction<P, Awaited<R>>, options);
  }

  /** Resolves when every outcome of a guarded call so far is reported or given up: await it before a process ends. */
  flush(): Promise<void> {
    return this.#reporter.flush();
  }

  /** Asks for a decision. The hash is computed here and compared with the answer's. */
  async authorize(
    input: wire.AuthorizeInput,
    options: RequestOptions & { idempotencyKey?: string | undefined } = {},
  ): Promise<wire.AuthorizeAnswer> {
    const text = freezeToolCall(input.tool_call);
    return sendAuthorize(this.#connection, {
      text,
      hash: await sha256Hex(text),
      context: input.context,
      dryRun: input.dry_run ?? false,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  async listApprovals(
    query: wire.ApprovalQuery = {},
    options: RequestOptions = {},
  ): Promise<wire.ApprovalPage> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
    return readApprovalPage(await this.#get('list approvals', `/v1/approvals?${search}`, options));
  }

  /** Every approval the query names, newest first, page after page. */
  async *approvals(
    query: wire.ApprovalQuery = {},
    options: RequestOptions = {},
  ): AsyncGenerator<wire.Approval> {
    let cursor: string | null | undefined = query.cursor;
    do {
      const page = await this.listApprovals({ ...query, cursor: cursor ?? undefined }, options);
      yield* page.items;
      cursor = page.next_cursor;
    } while (cursor !== null);
  }

  /** An approval; with `waitSeconds` (0 to 55) as soon as it is no longer pending. */
  getApproval(approvalId: string, options: GetApprovalOptions = {}): Promise<wire.Approval> {
    return sendGetApproval(this.#connection, approvalId, options);
  }

  approve(
    approvalId: string,
    input: wire.ApproveInput = {},
    options: ChangeOptions = {},
  ): Promise<wire.Approval> {
    return this.#change('approve', approvalId, input, options);
  }

  reject(
    approvalId: string,
    input: wire.RejectInput = {},
    options: ChangeOptions = {},
  ): Promise<wire.Approval> {
    return this.#change('reject', approvalId, input, options);
  }

  edit(approvalId: string, input: wire.EditInput, options: ChangeOptions = {}): Promise<wire.Approval> {
    return this.#change('edit', approvalId, input, options);
  }

  cancel(
    approvalId: string,
    input: { reason?: string | undefined } = {},
    options: ChangeOptions = {},
  ): Promise<wire.Approval> {
    return this.#change('cancel', approvalId, input, options);
  }

  /**
   * Spends an approval. `protect` does this with all the checks around it; who calls it directly compares the hash
   * and the tool call of the answer with what was approved before running anything.
   */
  async consume(
    approvalId: string,
    input: wire.ConsumeInput = {},
    options: RequestOptions = {},
  ): Promise<wire.ConsumeAnswer> {
    return (await sendConsume(this.#connection, approvalId, input, options)).answer;
  }

  reportOutcome(
    approvalId: string,
    input: wire.OutcomeInput,
    options: RequestOptions = {},
  ): Promise<wire.Approval> {
    return sendOutcome(this.#connection, approvalId, input, { signal: options.signal });
  }

  /** What bytes of text look like with their secrets replaced: at most 1 MiB, for instance a command's output. */
  scrub(bytes: Uint8Array, options: RequestOptions = {}): Promise<wire.ScrubAnswer> {
    return sendScrub(this.#connection, bytes, options);
  }

  async me(options: RequestOptions = {}): Promise<wire.Me> {
    return readObject('me', await this.#get('me', '/v1/me', options));
  }

  async createKey(input: wire.KeyInput, options: RequestOptions = {}): Promise<wire.CreatedKey> {
    return readObject('create key', await this.#post('create key', '/v1/keys', input, options));
  }

  async listKeys(options: RequestOptions = {}): Promise<wire.KeyList> {
    return readObject('list keys', await this.#get('list keys', '/v1/keys', options));
  }

  /** With `rotated` as the reason the key's votes stay; otherwise what rests on them is voided. */
  async revokeKey(
    keyId: string,
    input: { reason?: string | undefined } = {},
    options: RequestOptions = {},
  ): Promise<void> {
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(keyId)) {
      throw new TypeError('the key id is not an id. Pass the id, not the token');
    }
    const query = input.reason === undefined ? '' : `?${new URLSearchParams({ reason: input.reason })}`;
    await this.#connection.send({
      what: 'revoke key',
      method: 'DELETE',
      path: `/v1/keys/${keyId}${query}`,
      repeatable: false,
      signal: options.signal,
    });
  }

  async createTenant(
    input: { tenant_id: string },
    options: RequestOptions = {},
  ): Promise<wire.CreatedTenant> {
    return readObject('create tenant', await this.#post('create tenant', '/v1/tenants', input, options));
  }

  async #get(what: string, path: string, options: RequestOptions): Promise<wire.JsonValue | undefined> {
    const request = { what, method: 'GET', path, repeatable: true, signal: options.signal } as const;
    return (await this.#connection.send(request)).body;
  }

  async #post(
    what: string,
    path: string,
    input: object,
    options: ChangeOptions,
  ): Promise<wire.JsonValue | undefined> {
    const { ifMatchVersion } = options;
    if (ifMatchVersion !== undefined) {
      assertWhole('ifMatchVersion', ifMatchVersion);
    }
    const { body } = await this.#connection.send({
      what,
      method: 'POST',
      path,
      body: toBody(input),
      headers: ifMatchVersion === undefined ? undefined : { 'if-match': `"${ifMatchVersion}"` },
      repeatable: false,
      signal: options.signal,
    });
    return body;
  }

  async #change(
    what: 'approve' | 'reject' | 'edit' | 'cancel',
    approvalId: string,
    input: object,
    options: ChangeOptions,
  ): Promise<wire.Approval> {
    const path = `${approvalPath(approvalId)}/${what}`;
    return readApproval(what, await this.#post(what, path, input, options), approvalId);
  }
}
