import { unavailable } from '../../core/common_faults.ts';
import type { BaseRules, Rules } from '../../core/rules.ts';
import type { ActiveRules, RevisionStore, SeenRules } from '../../core/rules_ports.ts';

/** What a change of a tenant's rules starts from. */
export interface CurrentRules {
  active: ActiveRules;
  /** The active rules, on the base that the next revision has. */
  rules: Rules;
  baseDigest: string;
  seen: SeenRules;
}

interface Base {
  digest: string;
  rules: BaseRules;
  activatedAt: Date;
}

/**
 * Whether a revision still waits for the base rules in force. One that was activated after they came has the base
 * that its activator chose: an operator who goes back to a former revision goes back to its base.
 */
export function isOutdated(
  revision: { baseDigest: string | null; activatedAt: Date },
  inForce: Omit<Base, 'rules'>,
): boolean {
  return revision.baseDigest !== inForce.digest && revision.activatedAt <= inForce.activatedAt;
}

/** @throws Fault `unavailable` before the first start has stored them. */
export async function readBaseInForce(revisions: RevisionStore): Promise<Base> {
  const inForce = await revisions.findBase();
  if (inForce === undefined) throw unavailable(new Error('no base rules are stored'));
  return inForce;
}

/** Reads a tenant's rules to change them. */
export async function readCurrentRules(revisions: RevisionStore, tenantId: string): Promise<CurrentRules> {
  const [active, inForce] = await Promise.all([revisions.readActive(tenantId), readBaseInForce(revisions)]);
  const base = isOutdated(active, inForce)
    ? { digest: inForce.digest, rules: inForce.rules }
    : { digest: active.baseDigest, rules: active.rules.base };
  return {
    active,
    rules: { ...active.rules, base: base.rules },
    baseDigest: base.digest,
    seen: { revision: active.revision, baseInForce: inForce.digest },
  };
}
