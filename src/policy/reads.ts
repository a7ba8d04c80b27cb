import { attributePaths } from './attribute_paths.ts';
import type { CedarValueJson, PolicyJson } from './cedar.ts';

/** Which members of a record are read, and how deep; `all` when it is used as a whole. */
export type ReadTree = 'all' | Map<string, ReadTree>;

/**
 * What policies can read of a call. Handing facts to Cedar costs more than evaluating a policy, so a call holds
 * those that some policy of the slice could look at. What no expression names cannot change an answer.
 */
export interface Reads {
  /** Whether attributes or groups of each could matter; an id alone is always told. */
  principal: boolean;
  action: boolean;
  resource: boolean;
  /** Whether even the id of the resource could matter. */
  resourceId: boolean;
  context: ReadTree;
}

/** Reads of everything: what a set is compared with in tests. */
export const READS_ALL: Reads = {
  principal: true,
  action: true,
  resource: true,
  resourceId: true,
  context: 'all',
};

/** What the policies could read together. Errs on the side of too much. */
export function readsOf(policies: readonly PolicyJson[]): Reads {
  const bodies = policies.flatMap((policy) => policy.conditions.map((clause) => clause.body));
  const mentionsResource = mentions(bodies, 'resource');
  return {
    principal: policies.some(({ principal }) => isWithin(principal)) || mentions(bodies, 'principal'),
    action: policies.some(({ action }) => isWithin(action)) || mentions(bodies, 'action'),
    resource: policies.some(({ resource }) => isWithin(resource)) || mentionsResource,
    resourceId: policies.some(({ resource }) => resource.op !== 'All') || mentionsResource,
    context: collectContextReads(bodies),
  };
}

/** The part of a record that is read. An entity or an extension value is never cut. */
export function pruneRecord(
  record: Record<string, CedarValueJson>,
  tree: ReadTree,
): Record<string, CedarValueJson> {
  if (tree === 'all') return record;
  const pruned: Record<string, CedarValueJson> = {};
  for (const [name, inner] of tree) {
    const value = record[name];
    if (value === undefined) continue;
    pruned[name] = isPlainRecord(value) ? pruneRecord(value, inner) : value;
  }
  return pruned;
}

/** Whether a scope looks at groups: `in`, or `is … in`. */
function isWithin(constraint: { op: string }): boolean {
  return constraint.op === 'in' || 'in' in constraint;
}

function mentions(node: unknown, variable: string): boolean {
  return (
    isObject(node) &&
    (node.Var === variable || Object.values(node).some((child) => mentions(child, variable)))
  );
}

function collectContextReads(node: unknown): ReadTree {
  const root = new Map<string, ReadTree>([]);
  const paths = [...attributePaths(node, 'context')];
  if (paths.some((path) => path.length === 0)) return 'all';
  for (const path of paths) addPath(root, path);
  return root;
}

function addPath(tree: Map<string, ReadTree>, [name, ...rest]: string[]): void {
  if (name === undefined) return;
  const inner = tree.get(name);
  if (rest.length === 0 || inner === 'all') {
    tree.set(name, 'all');
    return;
  }
  const child = inner ?? new Map<string, ReadTree>();
  tree.set(name, child);
  addPath(child, rest);
}

function isPlainRecord(value: CedarValueJson): value is Record<string, CedarValueJson> {
  return isObject(value) && !Array.isArray(value) && !('__entity' in value) && !('__extn' in value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
