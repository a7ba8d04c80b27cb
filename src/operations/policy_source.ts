import { revisionNotLoaded, unavailable } from '../core/common_faults.ts';
import { Fault } from '../core/fault.ts';
import type { PolicySet } from '../core/policy.ts';
import type { Rules } from '../core/rules.ts';
import type { PolicyCompiler, PolicySource, RevisionStore } from '../core/rules_ports.ts';

/** A set that may hold something which has to be given back. */
type Disposable = PolicySet & { dispose?: () => void };

interface Kept {
  set: Disposable;
  usedAt: number;
}

export interface PolicySourceOptions {
  /** Sets kept at most, unless more were used within `quietMs`. */
  setsMax?: number;
  /** A set used within this time is never dropped: a request may still decide by it. */
  quietMs?: number;
  /** A load that is not done by then fails for who asked; it goes on, and whoever asks again shares it. */
  loadMs?: number;
  /** Milliseconds on a clock that never goes back. */
  monotonicNow?: () => number;
}

const SETS_MAX = 64;
const QUIET_MS = 60_000;
const LOAD_MS = 10_000;

/**
 * Keeps the policy sets of this process by revision, each compiled when it is first wanted and shared by all tenants
 * that have it. What is wanted by many at once is compiled once; what fails is tried again when it is next wanted.
 */
export function createPolicySource(
  revisions: Pick<RevisionStore, 'findRules'>,
  compiler: Pick<PolicyCompiler, 'compile'>,
  options: PolicySourceOptions = {},
): PolicySource {
  const { setsMax = SETS_MAX, quietMs = QUIET_MS, loadMs = LOAD_MS } = options;
  const { monotonicNow = () => performance.now() } = options;
  const kept = new Map<string, Kept>();
  const loading = new Map<string, Promise<PolicySet>>();
  const compiling = new Map<string, Promise<PolicySet>>();

  const find = (revision: string): PolicySet | undefined => {
    const found = kept.get(revision);
    if (found !== undefined) found.usedAt = monotonicNow();
    return found?.set;
  };
  const keep = (set: PolicySet): void => {
    if (find(set.revision) !== undefined) return;
    kept.set(set.revision, { set, usedAt: monotonicNow() });
    dropUnused(kept, setsMax, monotonicNow() - quietMs);
  };
  const compile = async (revision: string, rules: Rules): Promise<PolicySet> => {
    const compilation = await compiler.compile(rules);
    if (compilation.kind === 'refused') {
      const [first] = compilation.problems;
      throw new Error(`a stored revision does not compile here: ${first?.message}`);
    }
    if (compilation.set.revision !== revision) {
      throw new Error('a stored revision compiles to another one here. Activate its rules again');
    }
    keep(compilation.set);
    return compilation.set;
  };
  const load = async (tenantId: string, revision: string): Promise<PolicySet> => {
    const rules = await revisions.findRules(tenantId, revision);
    if (rules === undefined) throw revisionNotLoaded();
    return find(revision) ?? share(compiling, revision, () => compile(revision, rules));
  };

  return {
    find,
    keep,
    load: (tenantId, revision) => {
      const found = find(revision);
      if (found !== undefined) return Promise.resolve(found);
      // By tenant: what one has stored says nothing of another.
      const shared = share(loading, `${tenantId}/${revision}`, () => load(tenantId, revision));
      return within(loadMs, shared).catch(throwUnavailable);
    },
  };
}

/** One piece of work for all who want it while it is under way. */
function share<Result>(
  underWay: Map<string, Promise<Result>>,
  key: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const known = underWay.get(key);
  if (known !== undefined) return known;
  const begun = work().finally(() => underWay.delete(key));
  underWay.set(key, begun);
  return begun;
}

/** What a piece of work comes to if it is done in time; the work itself goes on. */
function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`the rules could not be loaded within ${ms} ms`));
    const timer = setTimeout(late, ms);
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Drops sets unused since a time, those unused for longest first, until there are no more than allowed. */
function dropUnused(kept: Map<string, Kept>, setsMax: number, before: number): void {
  if (kept.size <= setsMax) return;
  const unused = [...kept].filter(([, { usedAt }]) => usedAt < before);
  const dropped = unused.toSorted(([, a], [, b]) => a.usedAt - b.usedAt).slice(0, kept.size - setsMax);
  for (const [revision, { set }] of dropped) {
    kept.delete(revision);
    set.dispose?.();
  }
}

function throwUnavailable(error: unknown): never {
  throw error instanceof Fault ? error : unavailable(error);
}
