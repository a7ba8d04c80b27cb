import type { Caller } from '../core/caller.ts';
import { unauthenticated } from '../core/common_faults.ts';
import { sha256Hex } from '../core/digest.ts';
import type { Deps } from './deps.ts';

/**
 * The caller behind a bearer token; a request without one has `token` undefined. Requests without a valid credential
 * count against their address, and past its limit are refused for that alone; a valid credential is served from any
 * address.
 * @throws Fault `unauthenticated`, `throttled`.
 */
export async function identifyCaller(
  deps: Deps,
  token: string | undefined,
  address: () => string,
): Promise<Caller> {
  const caller = token === undefined ? undefined : await deps.keys.findCaller(sha256Hex(token));
  if (caller !== undefined) return caller;
  await deps.throttle.countAddressFailure(address());
  throw unauthenticated();
}
