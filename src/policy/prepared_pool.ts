import { sha256Hex } from '../core/digest.ts';
import { type PolicyJson, preparePolicies } from './cedar.ts';

/** Policies by id in either of Cedar's forms. */
export type Preparable = Readonly<Record<string, string | PolicyJson>>;

/** A hold on policies that Cedar has parsed, until it is given back. */
export interface Prepared {
  name: string;
  giveBack(): void;
}

interface Entry {
  name: string;
  policies: number;
  holders: number;
}

/**
 * The sets that Cedar holds parsed, each under a name that stands for it while anybody holds it. Cedar keeps a set
 * until another is prepared under its name: what the last holder gives back is replaced by nothing at once, and its
 * name serves again. Equal policies are prepared once, whichever revisions they are in.
 */
export class PreparedPool {
  readonly #prefix: string;
  readonly #entries = new Map<string, Entry>();
  readonly #freeNames: string[] = [];
  #namesMade = 0;
  #policies = 0;

  /** A prefix keeps names apart from those of others on the same thread. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** How many sets are held now. */
  get size(): number {
    return this.#entries.size;
  }

  /** How many policies they have together. */
  get policies(): number {
    return this.#policies;
  }

  /**
   * Has policies parsed, or finds them parsed. What is given back stays so: a second time does nothing.
   * @throws Error when Cedar does not take them; nothing is held then.
   */
  prepare(policies: Preparable): Prepared {
    const digest = sha256Hex(JSON.stringify(policies));
    const entry = this.#entries.get(digest) ?? this.#add(digest, policies);
    entry.holders += 1;
    let isHeld = true;
    return {
      name: entry.name,
      giveBack: () => {
        if (!isHeld) return;
        isHeld = false;
        entry.holders -= 1;
        if (entry.holders === 0) this.#remove(digest, entry);
      },
    };
  }

  #add(digest: string, policies: Preparable): Entry {
    const name = this.#freeNames.pop() ?? this.#newName();
    const prepared = preparePolicies(name, policies);
    if (prepared.kind === 'faults') {
      this.#freeNames.push(name);
      throw new Error(`policies that parsed singly do not parse together: ${prepared.faults[0]?.message}`);
    }
    const entry = { name, policies: Object.keys(policies).length, holders: 0 };
    this.#entries.set(digest, entry);
    this.#policies += entry.policies;
    return entry;
  }

  #remove(digest: string, { name, policies }: Entry): void {
    this.#entries.delete(digest);
    this.#policies -= policies;
    preparePolicies(name, {});
    this.#freeNames.push(name);
  }

  #newName(): string {
    this.#namesMade += 1;
    return `${this.#prefix}${this.#namesMade}`;
  }
}
