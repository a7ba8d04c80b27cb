import { type Caller, NO_LIMITS } from '../core/caller.ts';
import { unavailable } from '../core/common_faults.ts';
import type { NewKey } from '../core/ports.ts';
import { NOTHING_OF_ITS_OWN } from '../core/rules.ts';
import type { NewRevision } from '../core/rules_ports.ts';
import type { Deps } from './deps.ts';
import { makeToken } from './make_token.ts';
import { readBaseInForce } from './rules/current_rules.ts';

/** The principal of a new tenant's first key. */
export const FIRST_OPERATOR = 'operator-1';

/** How often it is tried anew because other base rules came into force. */
const TRIES = 5;

/** What a new tenant's decisions are made from: the base rules alone, compiled. @throws Fault `unavailable`. */
export async function prepareFirstRevision(
  deps: Pick<Deps, 'compiler' | 'policy' | 'revisions'>,
  tenantId: string,
): Promise<NewRevision> {
  const inForce = await readBaseInForce(deps.revisions);
  const rules = { ...NOTHING_OF_ITS_OWN, base: inForce.rules };
  const compiled = await deps.compiler.compile(rules);
  if (compiled.kind === 'refused') throw unavailable(new Error('the base rules do not compile here'));
  deps.policy.keep(compiled.set);
  return { tenantId, revision: compiled.set.revision, baseDigest: inForce.digest, rules, note: null };
}

/**
 * Makes a tenant with its first operator key, on the base rules in force; whoever makes it has no access to its data.
 * @throws Fault `tenant_exists`, `unauthenticated`, `unavailable`.
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
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const first = await prepareFirstRevision(deps, tenantId);
    const made = await deps.tenants.createTenant(first, operatorKey, caller.keyId);
    if (made === 'created') return { tenantId, keyId, token };
  }
  throw unavailable(new Error('the base rules were changed all the time'));
}
