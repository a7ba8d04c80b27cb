import type { PolicyFacts } from './annotations.ts';
import { countUpTo } from './ascending.ts';
import { type OpenParts, PARTS_OF_THREAD, type PartsOfSet, type WantedPart } from './open_parts.ts';
import { type PackedPolicies, type PackedPolicy, unpackPolicy } from './packed_policies.ts';
import type { Slice } from './slices.ts';

/** Stands for the principal of a policy whose scope names no exact one. */
const NO_PRINCIPAL = 0;

/** The policies whose scope names one principal exactly. */
interface OwnPolicies {
  /** The principal's number, which stands for it in keys. */
  number: number;
  policies: number[];
}

// A set that nobody refers to any more, and nobody disposed of, gives back what it held.
const forgotten = new FinalizationRegistry<{ parts: OpenParts; opened: PartsOfSet }>(({ parts, opened }) =>
  parts.closeAll(opened),
);

/**
 * The slices of one set, each in up to three parts that are parsed when they are first consulted: the policies whose
 * scope names no exact principal, which serve every principal, those that read what differs from call to call apart
 * from those that do not, and the policies that name the principal that asks. A principal that is seen for the first
 * time costs what its own policies cost.
 */
export class OpenSlices {
  readonly #packed: PackedPolicies;
  readonly #parts: OpenParts;
  readonly #own: ReadonlyMap<string, OwnPolicies>;
  readonly #opened: PartsOfSet = new Map();
  /** What is known of each policy, once for all parts that list it. */
  readonly #facts = new Map<number, PolicyFacts>();
  #isDisposed = false;

  constructor(packed: PackedPolicies, parts = PARTS_OF_THREAD) {
    this.#packed = packed;
    this.#parts = parts;
    this.#own = listOwn(packed);
    forgotten.register(this, { parts, opened: this.#opened });
  }

  /**
   * The policies that can match the slice's action and a principal. Principals are compared as policies write them.
   * To be used at once: the next slice may take the place of this one.
   * @throws Error when there is no such slice, or the slices were disposed of: nothing is evaluated then.
   */
  get(sliceId: string, principal: string): Slice {
    if (this.#isDisposed) throw new Error('the policy set was disposed of');
    const lists = this.#packed.slices.get(sliceId);
    if (lists === undefined) throw new Error('an action of the registry has no slice');
    const own = this.#wantOwn(sliceId, lists, principal);
    const shared = lists.map((list) => this.#wantShared(list));
    return { parts: this.#parts.use(this.#opened, own === undefined ? shared : [...shared, own]) };
  }

  /** Gives back what was parsed. */
  dispose(): void {
    this.#isDisposed = true;
    this.#parts.closeAll(this.#opened);
  }

  /** Slices with the same policies share their list, and so this part. */
  #wantShared(listed: Uint32Array): WantedPart {
    const { principalOf } = this.#packed;
    const isShared = (policy: number) => principalOf[policy] === NO_PRINCIPAL;
    return { key: listed, unpack: () => this.#unpack([...listed].filter(isShared)) };
  }

  #wantOwn(sliceId: string, lists: readonly Uint32Array[], principal: string): WantedPart | undefined {
    const own = this.#own.get(principal);
    const isListed = (policy: number) => lists.some((list) => isIn(list, policy));
    if (own === undefined || !own.policies.some(isListed)) return undefined;
    const unpack = () => this.#unpack(own.policies.filter(isListed));
    return { key: `${own.number} ${sliceId}`, unpack };
  }

  #unpack(policies: readonly number[]): PackedPolicy[] {
    return policies.map((policy) => {
      const unpacked = unpackPolicy(this.#packed, policy);
      const facts = this.#facts.get(policy) ?? unpacked.facts;
      this.#facts.set(policy, facts);
      return { ...unpacked, facts };
    });
  }
}

function listOwn({ principals, principalOf }: PackedPolicies): Map<string, OwnPolicies> {
  const own = principals.map((principal, index): [string, OwnPolicies] => [
    principal,
    { number: index + 1, policies: [] },
  ]);
  for (const [policy, number] of principalOf.entries()) {
    if (number !== NO_PRINCIPAL) own[number - 1]?.[1].policies.push(policy);
  }
  return new Map(own);
}

/** Whether an ascending list has a number: many policies can name a principal of which a slice has none. */
function isIn(ascending: Uint32Array, wanted: number): boolean {
  return ascending[countUpTo(ascending, wanted) - 1] === wanted;
}
