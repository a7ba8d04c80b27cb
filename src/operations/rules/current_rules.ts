import { unavailable } from '../../core/common_faults.ts';
import type { Rules } from '../../core/rules.ts';
import type { ActiveRules, RevisionStore, SeenRules, StoredBase } from '../../core/rules_ports.ts';

/** What a change of a tenant's rules starts from. */
export interface CurrentRules {
  active: ActiveRules;
  /** The tenant's own part of the active rules, on the base rules in force. */
  rules: Rules;
  /** Digest of the base rules in force, which the next revision has. */
  baseDigest: string;
  seen: SeenRules;
}

/** @throws Fault `unavailable` before the first start has stored them. */
export async function readBaseInForce(revisions: RevisionStore): Promise<StoredBase> {
  const inForce = await revisions.findBase();
  if (inForce === undefined) throw unavailable(new Error('no base rules are stored'));
  return inForce;
}

/** Reads a tenant's rules to change them. */
export async function readCurrentRules(revisions: RevisionStore, tenantId: string): Promise<CurrentRules> {
  const [active, inForce] = await Promise.all([revisions.readActive(tenantId), readBaseInForce(revisions)]);
  return {
    active,
    rules: { ...active.rules, base: inForce.rules },
    baseDigest: inForce.digest,
    seen: { revision: active.revision, baseInForce: inForce.digest },
  };
}
