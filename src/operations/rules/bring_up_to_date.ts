import { NOTHING_OF_ITS_OWN, type Rules, type RulesProblem } from '../../core/rules.ts';
import type { SeenRules, StoredBase, TenantPointer } from '../../core/rules_ports.ts';
import type { Deps } from '../deps.ts';
import { readBaseInForce } from './current_rules.ts';

type RulesDeps = Pick<Deps, 'compiler' | 'policy' | 'revisions'>;

/** How often tenants are looked through for those that were changed by others meanwhile. */
const ROUNDS = 10;

const POLICY_FOLDER = { principal: null, keyId: null };

/** A tenant whose rules are not upon the base in force; it keeps the revision it has. */
export interface TenantTrouble {
  tenantId: string;
  /** What was tried: its own part of this revision upon these base rules. */
  activeRevision: string;
  baseInForce: string | null;
  /** Why they do not compile; empty for rules that others changed whenever they were compiled. */
  problems: RulesProblem[];
}

export interface BringUpOptions {
  /** Tenants that are compiled anew although they do not wait. */
  alsoRenew?: (pointer: TenantPointer) => boolean;
  /** Troubles found before: such a tenant is not tried again until its rules or the base have changed. */
  known?: readonly TenantTrouble[];
}

/** Whether a tenant's revision is upon other base rules than those in force. */
export function isWaiting({ baseDigest, baseInForce }: TenantPointer): boolean {
  return baseDigest === null || baseDigest !== baseInForce;
}

function isStillSo(
  trouble: TenantTrouble,
  { tenantId, activeRevision, baseInForce }: TenantPointer,
): boolean {
  const isSame = trouble.tenantId === tenantId && trouble.activeRevision === activeRevision;
  return isSame && trouble.baseInForce === baseInForce && trouble.problems.length > 0;
}

/** The rules a tenant should have; its own stay, and a tenant without stored rules has none of its own. */
async function readNextRules(
  { revisions }: RulesDeps,
  { tenantId, activeRevision, baseDigest }: TenantPointer,
  inForce: StoredBase,
): Promise<Rules> {
  const stored = baseDigest === null ? undefined : await revisions.findRules(tenantId, activeRevision);
  return { ...(stored ?? NOTHING_OF_ITS_OWN), base: inForce.rules };
}

/**
 * Sees to it that a tenant whose rules do not go with the base in force can go on with those it has: a version that
 * reads rules differently compiles them to another revision, which it is then given. Returns what decides.
 */
async function keepFormer(deps: RulesDeps, pointer: TenantPointer, seen: SeenRules): Promise<string> {
  const { tenantId, activeRevision, baseDigest } = pointer;
  if (deps.policy.find(activeRevision) !== undefined) return activeRevision;
  const rules = await deps.revisions.findRules(tenantId, activeRevision);
  if (rules === undefined || baseDigest === null) return activeRevision;
  const compiled = await deps.compiler.compile(rules);
  if (compiled.kind === 'refused') return activeRevision;
  deps.policy.keep(compiled.set);
  const { revision } = compiled.set;
  if (revision === activeRevision) return activeRevision;
  const next = { tenantId, revision, baseDigest, rules, note: null };
  return (await deps.revisions.activate(next, seen, POLICY_FOLDER)) === 'moved' ? activeRevision : revision;
}

/**
 * Compiles a tenant's own rules upon the base in force, and activates what comes of it. `settled` when that is what is
 * active already.
 */
async function renew(
  deps: RulesDeps,
  pointer: TenantPointer,
  inForce: StoredBase,
): Promise<'settled' | 'activated or moved' | TenantTrouble> {
  const { tenantId, activeRevision } = pointer;
  const rules = await readNextRules(deps, pointer, inForce);
  const seen = { revision: activeRevision, baseInForce: inForce.digest };
  const compiled = await deps.compiler.compile(rules);
  if (compiled.kind === 'refused') {
    const kept = await keepFormer(deps, pointer, seen);
    return { tenantId, activeRevision: kept, baseInForce: inForce.digest, problems: compiled.problems };
  }
  deps.policy.keep(compiled.set);
  const { revision } = compiled.set;
  const next = { tenantId, revision, baseDigest: inForce.digest, rules, note: null };
  await deps.revisions.activate(next, seen, POLICY_FOLDER);
  return revision === activeRevision ? 'settled' : 'activated or moved';
}

/**
 * Gives every tenant that waits for the base rules in force its next revision, until none waits: what somebody
 * changes meanwhile is seen in the next round. Whoever does it goes on where another stopped. Returns the tenants that
 * could not follow.
 * @throws Fault `unavailable`.
 */
export async function bringUpToDate(
  deps: RulesDeps,
  { alsoRenew = () => false, known = [] }: BringUpOptions = {},
): Promise<TenantTrouble[]> {
  const troubles: TenantTrouble[] = [];
  const done = new Set<string>();
  for (let round = 1; round <= ROUNDS; round += 1) {
    const pointers = await deps.revisions.listTenants();
    for (const trouble of known) {
      if (done.has(trouble.tenantId) || !pointers.some((pointer) => isStillSo(trouble, pointer))) continue;
      done.add(trouble.tenantId);
      troubles.push(trouble);
    }
    const chosen = pointers.filter((pointer) => isWaiting(pointer) || (round === 1 && alsoRenew(pointer)));
    const open = chosen.filter(({ tenantId }) => !done.has(tenantId));
    if (open.length === 0) return troubles;
    const inForce = await readBaseInForce(deps.revisions);
    for (const pointer of open) {
      const outcome = await renew(deps, pointer, inForce);
      if (outcome === 'activated or moved') continue;
      done.add(pointer.tenantId);
      if (outcome !== 'settled') troubles.push(outcome);
    }
  }
  return [...troubles, ...(await findLeft(deps, troubles))];
}

/** Tenants that still wait, and of which nothing else is known. */
async function findLeft(
  { revisions }: RulesDeps,
  troubles: readonly TenantTrouble[],
): Promise<TenantTrouble[]> {
  const named = new Set(troubles.map(({ tenantId }) => tenantId));
  const waiting = (await revisions.listTenants()).filter(isWaiting);
  return waiting
    .filter(({ tenantId }) => !named.has(tenantId))
    .map(({ tenantId, activeRevision, baseInForce }) => ({
      tenantId,
      activeRevision,
      baseInForce,
      problems: [],
    }));
}
