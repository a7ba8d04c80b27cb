import type { Rules, RulesProblem } from '../../core/rules.ts';
import type { StoredBase, TenantPointer } from '../../core/rules_ports.ts';
import type { Deps } from '../deps.ts';
import { isOutdated, readBaseInForce } from './current_rules.ts';

type RulesDeps = Pick<Deps, 'compiler' | 'policy' | 'revisions'>;

/** How often tenants are looked through for those that were changed by others meanwhile. */
const ROUNDS = 10;

const POLICY_FOLDER = { principal: null, keyId: null };
const NOTHING_OF_ITS_OWN = { policies: {}, tools: [], permissions: [] };

/** A tenant whose rules do not compile upon the base in force; it keeps the revision it has. */
export interface TenantTrouble {
  tenantId: string;
  problems: RulesProblem[];
}

function isWaiting(pointer: TenantPointer, inForce: StoredBase): boolean {
  return pointer.baseDigest === null || isOutdated(pointer, inForce);
}

/** Those of the tenants that still wait for the base rules in force: somebody may have mended their rules since. */
export async function filterWaiting(
  revisions: RulesDeps['revisions'],
  tenantIds: ReadonlySet<string>,
): Promise<Set<string>> {
  const [inForce, pointers] = await Promise.all([readBaseInForce(revisions), revisions.listTenants()]);
  const waiting = pointers.filter((pointer) => isWaiting(pointer, inForce));
  return new Set(waiting.map(({ tenantId }) => tenantId).filter((tenantId) => tenantIds.has(tenantId)));
}

/** The rules a tenant should have; its own stay, and a tenant without stored rules has none of its own. */
async function readNextRules(
  { revisions }: RulesDeps,
  pointer: TenantPointer,
  inForce: StoredBase,
): Promise<{ rules: Rules; baseDigest: string }> {
  const { tenantId, activeRevision, baseDigest } = pointer;
  const stored = baseDigest === null ? undefined : await revisions.findRules(tenantId, activeRevision);
  if (stored !== undefined && baseDigest !== null && !isWaiting(pointer, inForce)) {
    return { rules: stored, baseDigest };
  }
  const rules = { ...(stored ?? NOTHING_OF_ITS_OWN), base: inForce.rules };
  return { rules, baseDigest: inForce.digest };
}

/**
 * Compiles a tenant's rules upon the base they should have, and activates what comes of it. `settled` when that is what
 * is active already.
 */
async function renew(
  deps: RulesDeps,
  pointer: TenantPointer,
  inForce: StoredBase,
): Promise<'settled' | 'activated or moved' | RulesProblem[]> {
  const { rules, baseDigest } = await readNextRules(deps, pointer, inForce);
  const compiled = await deps.compiler.compile(rules);
  if (compiled.kind === 'refused') return compiled.problems;
  deps.policy.keep(compiled.set);
  const { tenantId, activeRevision } = pointer;
  const next = { tenantId, revision: compiled.set.revision, baseDigest, rules, note: null };
  const seen = { revision: activeRevision, baseInForce: inForce.digest };
  await deps.revisions.activate(next, seen, POLICY_FOLDER);
  return compiled.set.revision === activeRevision ? 'settled' : 'activated or moved';
}

/**
 * Gives every tenant that waits for the base rules in force its next revision, until none waits: what somebody
 * changes meanwhile is seen in the next round. `alsoRenew` names tenants that are compiled anew although they do not
 * wait. Returns the tenants that could not follow.
 * @throws Fault `unavailable`.
 */
export async function bringUpToDate(
  deps: RulesDeps,
  alsoRenew: (pointer: TenantPointer) => boolean = () => false,
): Promise<TenantTrouble[]> {
  const troubles: TenantTrouble[] = [];
  const done = new Set<string>();
  for (let round = 1; round <= ROUNDS; round += 1) {
    const inForce = await readBaseInForce(deps.revisions);
    const pointers = await deps.revisions.listTenants();
    const chosen = pointers.filter(
      (pointer) => isWaiting(pointer, inForce) || (round === 1 && alsoRenew(pointer)),
    );
    const open = chosen.filter(({ tenantId }) => !done.has(tenantId));
    if (open.length === 0) break;
    for (const pointer of open) {
      const outcome = await renew(deps, pointer, inForce);
      if (outcome === 'activated or moved') continue;
      done.add(pointer.tenantId);
      if (outcome !== 'settled') troubles.push({ tenantId: pointer.tenantId, problems: outcome });
    }
  }
  return troubles;
}
