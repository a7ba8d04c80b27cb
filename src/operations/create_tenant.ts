import type { Caller } from '../core/caller.ts';
import type { NewKey } from '../core/ports.ts';
import { NO_LIMITS } from './create_key.ts';
import type { Deps } from './deps.ts';
import { makeToken } from './make_token.ts';

/** The principal of a new tenant's first key. */
export const FIRST_OPERATOR = 'operator-1';

/**
 * Makes a tenant with its first operator key; whoever makes it has no access to its data.
 * @throws Fault `tenant_exists`.
 */
export async function createTenant(
  deps: Deps,
  caller: Caller,
  tenantId: string,
): Promise<{ tenantId: string; keyId: string; token: string }> {
  const { keyId, token, tokenHash } = makeToken(deps);
  const operatorKey: NewKey = {
    tenantId,
    keyId,
    tokenHash,
    principal: FIRST_OPERATOR,
    roles: ['operator'],
    groups: [],
    owner: null,
    defaultOwner: null,
    limits: NO_LIMITS,
    // The maker is of another tenant, which is none of this one's business.
    createdBy: null,
    expiresAt: null,
    origin: 'api',
  };
  await deps.tenants.createTenant(tenantId, deps.policy.current().revision, operatorKey, caller);
  return { tenantId, keyId, token };
}
