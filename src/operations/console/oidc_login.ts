import type { OidcLogin } from '../../core/console_ports.ts';
import { sha256Hex } from '../../core/digest.ts';
import type { Deps } from '../deps.ts';

/** What ties a sign-in at the provider together: the state that it sends back, and the browser that began it. */
export interface OidcBinding {
  state: string;
  browserSecret: string;
}

function hashOf({ state, browserSecret }: OidcBinding): string {
  return sha256Hex(`${state}.${browserSecret}`);
}

/**
 * Keeps a sign-in until the browser comes back from the provider. It counts against the address, as one without a
 * credential: nobody fills the table.
 * @throws Fault `throttled`.
 */
export async function beginOidcLogin(
  deps: Deps,
  binding: OidcBinding,
  login: OidcLogin,
  address: string,
): Promise<void> {
  await deps.throttle.countAddressFailure(address);
  await deps.oidcLogins.begin(hashOf(binding), login);
}

/** Takes the sign-in, once; undefined when this browser began none with this state, took too long, or has taken it. */
export function takeOidcLogin(deps: Deps, binding: OidcBinding): Promise<OidcLogin | undefined> {
  return deps.oidcLogins.take(hashOf(binding));
}
