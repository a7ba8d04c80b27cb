import type { Caller } from '../core/caller.ts';
import { unauthenticated } from '../core/common_faults.ts';
import { sha256Hex } from '../core/digest.ts';
import type { Deps } from '../operations/deps.ts';
import { parseBearer } from './request_headers.ts';

/**
 * The caller behind a request's bearer token. Requests without a valid credential count against their address,
 * and past its limit are refused for that alone; a valid credential is served from any address.
 * @throws Fault `unauthenticated`, `throttled`.
 */
export async function authenticate(
  deps: Deps,
  authorization: string | undefined,
  address: () => string,
): Promise<Caller> {
  const credential = parseBearer(authorization);
  const caller =
    credential.kind === 'token' ? await deps.keys.findCaller(sha256Hex(credential.token)) : undefined;
  if (caller !== undefined) return caller;
  await deps.throttle.countAddressFailure(address());
  throw unauthenticated();
}
