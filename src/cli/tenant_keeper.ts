import type { TenantPointer } from '../core/rules_ports.ts';
import type { Deps } from '../operations/deps.ts';
import { bringUpToDate, isWaiting, type TenantTrouble } from '../operations/rules/bring_up_to_date.ts';
import { formatProblem } from '../policy/policy_set_error.ts';
import type { ServiceLog } from './service_log.ts';

type RulesDeps = Pick<Deps, 'compiler' | 'policy' | 'revisions'>;

/** Keeps every tenant's rules upon the base rules in force, and says of how many it cannot. One call at a time. */
export class TenantKeeper {
  readonly #deps: RulesDeps;
  readonly #log: ServiceLog;
  #troubles: readonly TenantTrouble[] = [];
  #isAtWork = false;

  constructor(deps: RulesDeps, log: ServiceLog) {
    this.#deps = deps;
    this.#log = log;
  }

  /** Tries every tenant that waits. @throws Fault `unavailable`. */
  bringUp(): Promise<void> {
    return this.keep(() => bringUpToDate(this.#deps));
  }

  /** Tries tenants that wait though nothing is known to be in their way. Never throws: what goes wrong is logged. */
  async sweep(): Promise<void> {
    try {
      await this.keep(() => bringUpToDate(this.#deps, { known: this.#troubles }));
    } catch (error) {
      this.#log.warn({ err: error }, 'tenants could not be brought up to date with the policy folder now');
    }
  }

  /** Does work that brings tenants up to date, and remembers the troubles it tells of. @throws what the work throws. */
  async keep(work: () => Promise<TenantTrouble[]>): Promise<void> {
    this.#isAtWork = true;
    try {
      const troubles = await work();
      for (const trouble of troubles) if (!this.#troubles.includes(trouble)) this.#tell(trouble);
      this.#troubles = troubles;
    } finally {
      this.#isAtWork = false;
    }
  }

  /** Whose tenants they are is for the log alone: whoever asks whether the service is ready may be anybody. */
  async problem(): Promise<string | null> {
    if (this.#troubles.length === 0 && !this.#isAtWork) return null;
    const troubled = new Set(this.#troubles.map(({ tenantId }) => tenantId));
    const waiting = (await this.#findWaiting()) ?? troubled;
    const stuck = [...waiting].filter((tenantId) => troubled.has(tenantId)).length;
    const others = waiting.size - stuck;
    const lines = [
      stuck > 0 &&
        `the policy folder does not go with the own rules of tenants (${stuck}), whose former revisions decide. The log says why`,
      others > 0 &&
        `tenants (${others}) wait for the rules of the policy folder, and their former revisions decide until then`,
    ];
    return lines.filter((line) => line !== false).join('\n') || null;
  }

  /** Undefined when it cannot be known now. */
  async #findWaiting(): Promise<Set<string> | undefined> {
    const pointers = await this.#deps.revisions
      .listTenants()
      .catch((): TenantPointer[] | undefined => undefined);
    return pointers && new Set(pointers.filter(isWaiting).map(({ tenantId }) => tenantId));
  }

  #tell({ tenantId, problems }: TenantTrouble): void {
    if (problems.length === 0) {
      this.#log.warn(
        { tenant_id: tenantId },
        'the rules of a tenant were changed again and again while the policy folder was put in force, and its former revision decides. It is tried again',
      );
      return;
    }
    this.#log.error(
      { tenant_id: tenantId, problems: problems.map(formatProblem) },
      'the rules of a tenant do not go with the policy folder, and its former revision decides. Its operator must change them',
    );
  }
}
