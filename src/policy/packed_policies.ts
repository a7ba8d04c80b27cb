import type { PolicyFacts } from './annotations.ts';
import type { PolicyJson } from './cedar.ts';
import { exactPrincipalOf, type LoadedPolicy, type SliceTarget, slicePolicies } from './slices.ts';
import { steadinessOf } from './steady.ts';

/**
 * Policies and what slices hold of them, as a few buffers: handing them to another thread copies nothing of them,
 * and nothing of them is read before a slice is first consulted.
 */
export interface PackedPolicies {
  /** UTF-8 JSON of one policy after another, each a `PackedPolicy`. */
  bytes: Uint8Array<ArrayBuffer>;
  /** Where each begins in the bytes, and after the last, where they end. */
  offsets: Uint32Array<ArrayBuffer>;
  /**
   * Numbers of the policies in each slice, ascending: the steady ones apart from the others, no list empty. Slices with
   * the same ones share a list.
   */
  slices: Map<string, Uint32Array<ArrayBuffer>[]>;
  /** The principals that scopes name exactly. */
  principals: string[];
  /** For each policy the number of the principal its scope names, counted from 1; 0 when it names none. */
  principalOf: Uint32Array<ArrayBuffer>;
}

/** One policy as it is evaluated. */
export interface PackedPolicy {
  facts: PolicyFacts;
  /** Without its annotations, which are in the facts, and without its scope on the action, which the slice matches. */
  json: PolicyJson;
  /** The policy as it was written, when its JSON form does not say the same; else null. */
  text: string | null;
}

/** Packs policies for the slices of these targets. */
export function packPolicies(
  policies: readonly LoadedPolicy[],
  targets: readonly SliceTarget[],
): PackedPolicies {
  const numbers = new Map(policies.map((policy, index) => [policy, index]));
  const encoder = new TextEncoder();
  const records = policies.map((policy) => encoder.encode(JSON.stringify(packPolicy(policy))));
  const offsets = new Uint32Array(records.length + 1);
  for (const [index, record] of records.entries()) offsets[index + 1] = (offsets[index] ?? 0) + record.length;
  const bytes = new Uint8Array(offsets.at(-1) ?? 0);
  for (const [index, record] of records.entries()) bytes.set(record, offsets[index]);
  const slices = shareEqual(listSteadyApart(policies, targets, numbers));
  return { bytes, offsets, slices, ...listPrincipals(policies) };
}

/** The numbers of the policies of each slice, in one list or two. */
function listSteadyApart(
  policies: readonly LoadedPolicy[],
  targets: readonly SliceTarget[],
  numbers: ReadonlyMap<LoadedPolicy, number>,
): Map<string, number[][]> {
  const steadiness = new Map(policies.map((policy) => [policy, steadinessOf(policy.json)]));
  const matching = slicePolicies(policies, targets);
  const lists = targets.map(({ sliceId, hasCommand }): [string, number[][]] => {
    const steady: number[] = [];
    const others: number[] = [];
    for (const policy of matching.get(sliceId) ?? []) {
      const when = steadiness.get(policy);
      const isSteady = when === 'always' || (when === 'without commands' && !hasCommand);
      (isSteady ? steady : others).push(numbers.get(policy) ?? 0);
    }
    return [sliceId, [steady, others].filter(({ length }) => length > 0)];
  });
  return new Map(lists);
}

/** The buffers of packed policies, for handing them over. */
export function buffersOf({ bytes, offsets, slices, principalOf }: PackedPolicies): ArrayBuffer[] {
  const lists = [...slices.values()].flat();
  return [...new Set([bytes, offsets, principalOf, ...lists].map((view) => view.buffer))];
}

/** Reads one policy. */
export function unpackPolicy({ bytes, offsets }: PackedPolicies, number: number): PackedPolicy {
  const record = bytes.subarray(offsets[number], offsets[number + 1]);
  return JSON.parse(new TextDecoder().decode(record)) as PackedPolicy;
}

/**
 * Within a slice the scope on the action is known to match. Without it a call need not hold its action's groups,
 * which is a fifth of the cost. An integer beyond 2^53 would be rounded in Cedar's JSON form: such a policy is
 * evaluated from its text.
 */
function packPolicy({ facts, json, text }: LoadedPolicy): PackedPolicy {
  const { annotations: _, ...bare } = json;
  return hasExactNumbers(json.conditions)
    ? { facts, json: { ...bare, action: { op: 'All' } }, text: null }
    : { facts, json: bare, text };
}

function hasExactNumbers(node: unknown): boolean {
  if (typeof node === 'number') return Number.isSafeInteger(node);
  return typeof node !== 'object' || node === null || Object.values(node).every(hasExactNumbers);
}

/** All lists in one buffer, equal ones once. */
function shareEqual(slices: ReadonlyMap<string, readonly number[][]>): PackedPolicies['slices'] {
  const different = new Map([...slices.values()].flat().map((list) => [list.join(), list]));
  const length = [...different.values()].reduce((sum, list) => sum + list.length, 0);
  const all = new Uint32Array(length);
  const views = new Map<string, Uint32Array<ArrayBuffer>>();
  let start = 0;
  for (const [key, list] of different) {
    all.set(list, start);
    views.set(key, all.subarray(start, start + list.length));
    start += list.length;
  }
  const viewOf = (list: readonly number[]) => views.get(list.join()) ?? new Uint32Array();
  return new Map([...slices].map(([sliceId, lists]) => [sliceId, lists.map(viewOf)]));
}

function listPrincipals(
  policies: readonly LoadedPolicy[],
): Pick<PackedPolicies, 'principals' | 'principalOf'> {
  const numbers = new Map<string, number>();
  const principalOf = Uint32Array.from(policies, ({ json }) => {
    const principal = exactPrincipalOf(json);
    if (principal === undefined) return 0;
    const number = numbers.get(principal) ?? numbers.size + 1;
    numbers.set(principal, number);
    return number;
  });
  return { principals: [...numbers.keys()], principalOf };
}
