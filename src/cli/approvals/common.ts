import { parseId } from '../../core/ids.ts';
import { OperatorError } from '../../core/operator_error.ts';
import { oneLine } from '../config_values.ts';
import type { Terminal } from '../terminal.ts';
import { isReadableOnTheWay, readAccess } from './access.ts';
import { type Client, createClient } from './client.ts';

/** The service that the environment names. @throws OperatorError when it names none, or no key. */
export function connect(env: NodeJS.ProcessEnv, terminal: Terminal): Client {
  const access = readAccess(env);
  if (isReadableOnTheWay(access) && env.AEGIS_ALLOW_PLAIN_HTTP !== '1') {
    terminal.complain('warning: AEGIS_URL is plain http to another machine, where others can read the key');
  }
  return createClient(access);
}

/** The path of the approval that an argument names. @throws OperatorError for what is no id. */
export function approvalPath(id: string | undefined): string {
  if (id !== undefined && parseId('approval', id) !== undefined) return `/v1/approvals/${id}`;
  throw new OperatorError(
    `\`${oneLine(id ?? '')}\` is no id of an approval. \`aegis approvals list\` shows them`,
  );
}

/** A person's reason. @throws OperatorError for an empty one, which is most often an unset variable. */
export function readReason(reason: string | undefined): { reason?: string } {
  if (reason === '') throw new OperatorError('`--reason` is empty. Give one, or leave it out');
  return reason === undefined ? {} : { reason };
}

/** The hash of a view that was shown. @throws OperatorError for what is none. */
export function readViewHash(hash: string | undefined): string | undefined {
  if (hash === undefined || /^[0-9a-f]{64}$/.test(hash)) return hash;
  throw new OperatorError(
    `\`--view-hash\` is \`${oneLine(hash)}\` but must be 64 lower-case hex characters. \`aegis approvals show ID\` ends with it`,
  );
}
