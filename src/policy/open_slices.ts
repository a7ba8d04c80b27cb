import type { PolicyFacts } from './annotations.ts';
import { type PackedPolicies, unpackPolicy } from './packed_policies.ts';
import { type Prepared, PreparedPool } from './prepared_pool.ts';
import { readsOf } from './reads.ts';
import type { Slice } from './slices.ts';

/** The pool of this thread: Cedar's prepared sets are the thread's, whoever made them. */
const pool = new PreparedPool('slice ');

/** Slices kept open for one set; the one unused for longest makes room for another. */
const OPEN_MAX = 4096;

/** Stands for every principal. */
const ANY = -1;
/** Stands for a principal that no scope names. */
const NONE = 0;

type OpenSlice = { slice: Slice; prepared: Prepared };

// A set that nobody refers to any more, and nobody disposed of, gives back what it held.
const forgotten = new FinalizationRegistry<Map<string, OpenSlice>>(giveBackAll);

/** How many parsed slices this thread holds, of all sets. */
export function countPreparedSlices(): number {
  return pool.size;
}

/** The slices of one set, each parsed when it is first consulted. */
export class OpenSlices {
  readonly #packed: PackedPolicies;
  readonly #principals: ReadonlyMap<string, number>;
  /** Numbers of the principals that scopes of a slice's policies name. */
  readonly #namedIn = new Map<string, ReadonlySet<number>>();
  /** By slice and principal, in the order of their last use. */
  readonly #open = new Map<string, OpenSlice>();
  #isDisposed = false;

  constructor(packed: PackedPolicies) {
    this.#packed = packed;
    this.#principals = new Map(packed.principals.map((principal, index) => [principal, index + 1]));
    forgotten.register(this, this.#open);
  }

  /**
   * The policies that can match the slice's action, without those that can match another single principal only; all
   * of them when no principal is given. Principals are compared as policies write them.
   * @throws Error when there is no such slice, or the slices were disposed of: nothing is evaluated then.
   */
  get(sliceId: string, principal?: string): Slice {
    if (this.#isDisposed) throw new Error('the policy set was disposed of');
    const listed = this.#packed.slices.get(sliceId);
    if (listed === undefined) throw new Error('an action of the registry has no slice');
    const number = principal === undefined ? ANY : this.#numberIn(sliceId, listed, principal);
    const key = `${number} ${sliceId}`;
    const open = this.#open.get(key) ?? openSlice(this.#packed, listed, number);
    this.#open.delete(key);
    this.#open.set(key, open);
    if (this.#open.size > OPEN_MAX) this.#closeOldest();
    return open.slice;
  }

  /** Gives back what was parsed. */
  dispose(): void {
    this.#isDisposed = true;
    giveBackAll(this.#open);
  }

  /** Most slices name no principal: one opened slice then serves all. */
  #numberIn(sliceId: string, listed: Uint32Array, principal: string): number {
    const number = this.#principals.get(principal);
    if (number === undefined) return NONE;
    const named =
      this.#namedIn.get(sliceId) ??
      new Set(Array.from(listed, (policy) => this.#packed.principalOf[policy] ?? 0));
    this.#namedIn.set(sliceId, named);
    return named.has(number) ? number : NONE;
  }

  #closeOldest(): void {
    const [oldest] = this.#open;
    if (oldest === undefined) return;
    const [key, { prepared }] = oldest;
    this.#open.delete(key);
    prepared.giveBack();
  }
}

function openSlice(packed: PackedPolicies, listed: Uint32Array, principal: number): OpenSlice {
  const wanted = [...listed].filter((policy) => {
    const only = packed.principalOf[policy];
    return principal === ANY || only === NONE || only === principal;
  });
  const policies = wanted.map((policy) => unpackPolicy(packed, policy));
  const prepared = pool.prepare(
    Object.fromEntries(policies.map(({ facts, json, text }) => [facts.id, text ?? json])),
  );
  const reads = readsOf(policies.map(({ json }) => json));
  const facts = new Map(policies.map((policy): [string, PolicyFacts] => [policy.facts.id, policy.facts]));
  return { prepared, slice: { preparedName: prepared.name, reads, policies: facts } };
}

function giveBackAll(open: Map<string, OpenSlice>): void {
  for (const { prepared } of open.values()) prepared.giveBack();
  open.clear();
}
