import type { Caller } from '../core/caller.ts';
import type { Deps } from '../operations/deps.ts';
import { identifyCaller } from '../operations/identify_caller.ts';
import { parseBearer } from './request_headers.ts';

/**
 * The caller that a request's `Authorization` names; see `identifyCaller`. `address` is the client's.
 * @throws Fault `unauthenticated`, `throttled`.
 */
export function authenticate(
  deps: Deps,
  authorization: string | undefined,
  address: () => string,
): Promise<Caller> {
  const credential = parseBearer(authorization);
  return identifyCaller(deps, credential.kind === 'token' ? credential.token : undefined, address);
}
