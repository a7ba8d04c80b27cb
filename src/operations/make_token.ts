import { sha256Hex } from '../core/digest.ts';
import { formatId } from '../core/ids.ts';
import type { Deps } from './deps.ts';

export interface MadeToken {
  keyId: string;
  /** `aeg_<key id>_<secret>`; shown once, stored nowhere. */
  token: string;
  tokenHash: string;
}

/** Makes a key's id and bearer token. Only the token's hash is for the database. */
export function makeToken(deps: Pick<Deps, 'newUuid' | 'newSecret'>): MadeToken {
  const keyId = deps.newUuid();
  const token = `aeg_${formatId('key', keyId)}_${deps.newSecret()}`;
  return { keyId, token, tokenHash: sha256Hex(token) };
}
