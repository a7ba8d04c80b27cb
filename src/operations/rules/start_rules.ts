import type { TenantPointer } from '../../core/rules_ports.ts';
import type { Deps } from '../deps.ts';
import { bringUpToDate, type TenantTrouble } from './bring_up_to_date.ts';

type RulesDeps = Pick<Deps, 'compiler' | 'policy' | 'revisions'>;

async function findPointer({ revisions }: RulesDeps, tenantId: string): Promise<TenantPointer | undefined> {
  return (await revisions.listTenants()).find((pointer) => pointer.tenantId === tenantId);
}

/**
 * Makes the rules that are stored ready to decide, as a process starts: `firstTenant`'s are loaded, and tenants that
 * wait for the base rules get them. When the same rules of the first tenant compile to another revision than before,
 * this version reads rules differently, and every tenant's are compiled anew. Returns the tenants that could not
 * follow.
 * @throws Fault `unavailable`.
 */
export async function startRules(deps: RulesDeps, firstTenant: string): Promise<TenantTrouble[]> {
  const before = await findPointer(deps, firstTenant);
  const isUnread = ({ tenantId, activeRevision }: TenantPointer) =>
    tenantId === firstTenant && deps.policy.find(activeRevision) === undefined;
  const troubles = await bringUpToDate(deps, { alsoRenew: isUnread });
  const after = await findPointer(deps, firstTenant);
  const isReadDifferently =
    before !== undefined &&
    after !== undefined &&
    before.baseDigest === after.baseDigest &&
    before.activeRevision !== after.activeRevision;
  return isReadDifferently ? bringUpToDate(deps, { alsoRenew: () => true }) : troubles;
}
