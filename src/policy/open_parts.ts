import type { PolicyFacts } from './annotations.ts';
import type { PackedPolicy } from './packed_policies.ts';
import { type Prepared, PreparedPool } from './prepared_pool.ts';
import { readsOf } from './reads.ts';
import type { SlicePart } from './slices.ts';

/** What parts of slices may take of memory, all sets of the thread together. */
export interface PartLimits {
  /** Policies that Cedar holds parsed, those of equal parts once. Each takes some 2.3 KB, and Cedar has 4 GB. */
  prepared: number;
  /** Policies that the parts list, and one more for each part: about 50 bytes each. */
  listed: number;
}

const LIMITS: PartLimits = { prepared: 100_000, listed: 500_000 };

/** What a set knows one of its parts by. */
export type PartKey = string | Uint32Array;

/** The open parts of one set. */
export type PartsOfSet = Map<PartKey, OpenPart>;

/** A part that a call needs, and how it is come by when it is not open. */
export interface WantedPart {
  key: PartKey;
  unpack: () => PackedPolicy[];
}

// Refers to the set's parts and not to the set, which can be collected while some of them are open.
interface OpenPart {
  part: SlicePart;
  prepared: Prepared;
  listed: number;
  owner: PartsOfSet;
  key: PartKey;
}

/** The parts that are open, of all sets; those unused for longest are closed when together they are too many. */
export class OpenParts {
  readonly #pool: PreparedPool;
  readonly #limits: PartLimits;
  readonly #byLastUse = new Set<OpenPart>();
  #listed = 0;

  constructor(pool: PreparedPool, limits: PartLimits) {
    this.#pool = pool;
    this.#limits = limits;
  }

  /** How many policies Cedar holds parsed, and in how many sets. */
  get held(): { sets: number; policies: number } {
    return { sets: this.#pool.size, policies: this.#pool.policies };
  }

  /**
   * Opens those of a set's parts that are not open. All that are wanted stay open until the next use, even where they
   * alone are too many: one that was closed would hold no policies, and so no forbids.
   * @throws Error when Cedar does not take one.
   */
  use(owner: PartsOfSet, wanted: readonly WantedPart[]): SlicePart[] {
    const used = wanted.map(({ key, unpack }) => owner.get(key) ?? this.#open(owner, key, unpack()));
    for (const open of used) {
      this.#byLastUse.delete(open);
      this.#byLastUse.add(open);
    }
    this.#makeRoom(used.length);
    return used.map(({ part }) => part);
  }

  /** Closes all parts of a set. */
  closeAll(owner: PartsOfSet): void {
    for (const open of owner.values()) this.#close(open);
  }

  #open(owner: PartsOfSet, key: PartKey, policies: readonly PackedPolicy[]): OpenPart {
    const prepared = this.#pool.prepare(
      Object.fromEntries(policies.map(({ facts, json, text }) => [facts.id, text ?? json])),
    );
    const part: SlicePart = {
      preparedName: prepared.name,
      reads: readsOf(policies.map(({ json }) => json)),
      policies: new Map(policies.map(({ facts }): [string, PolicyFacts] => [facts.id, facts])),
    };
    const open = { part, prepared, listed: policies.length + 1, owner, key };
    owner.set(key, open);
    this.#byLastUse.add(open);
    this.#listed += open.listed;
    return open;
  }

  /** The parts in use are the last in the order. */
  #makeRoom(inUse: number): void {
    for (const oldest of this.#byLastUse) {
      const isWithin = this.#pool.policies <= this.#limits.prepared && this.#listed <= this.#limits.listed;
      if (isWithin || this.#byLastUse.size <= inUse) return;
      this.#close(oldest);
    }
  }

  #close(open: OpenPart): void {
    open.owner.delete(open.key);
    this.#byLastUse.delete(open);
    this.#listed -= open.listed;
    open.prepared.giveBack();
  }
}

/** The open parts of this thread: Cedar's prepared sets are the thread's, whoever made them. */
export const PARTS_OF_THREAD = new OpenParts(new PreparedPool('slice '), LIMITS);
