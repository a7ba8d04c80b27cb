import type { Queue, QueueItem } from '../../../operations/list_queue.ts';
import type { Alike } from './queue_row.tsx';

/** What of the queue is looked at. */
export interface QueueFilter {
  agent: string | null;
  tool: string | null;
}

/** How many wait, by one of their members, most first. */
export interface Count {
  name: string;
  count: number;
}

function groupBy(items: readonly QueueItem[], nameOf: (item: QueueItem) => string): Map<string, QueueItem[]> {
  const groups = new Map<string, QueueItem[]>();
  for (const item of items) {
    const group = groups.get(nameOf(item));
    if (group === undefined) groups.set(nameOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

export function isWanted({ agent, tool }: QueueFilter, item: QueueItem): boolean {
  return (agent === null || item.agent === agent) && (tool === null || item.resolved.tool === tool);
}

/**
 * Identical actions stand side by side, where the one of them stands that expires first; what is given is in order of
 * expiry.
 */
export function bringTogether(items: readonly QueueItem[]): QueueItem[] {
  const byAction = groupBy(items, ({ actionHash }) => actionHash);
  return [...byAction.values()].flat();
}

/** Of each item its number among those of the same action, and how many those are. */
export function numberAlike(items: readonly QueueItem[]): ReadonlyMap<QueueItem, Alike> {
  const groups = [...groupBy(items, ({ actionHash }) => actionHash).values()];
  return new Map(
    groups.flatMap((group) =>
      group.map((item, index): [QueueItem, Alike] => [item, { number: index + 1, of: group.length }]),
    ),
  );
}

function countBy(items: readonly QueueItem[], nameOf: (item: QueueItem) => string): Count[] {
  return [...groupBy(items, nameOf)]
    .map(([name, group]) => ({ name, count: group.length }))
    .toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}

/** How many wait by agent and by tool: of each, as far as the other is not filtered by. */
export function countQueue({ items }: Queue, filter: QueueFilter): { agents: Count[]; tools: Count[] } {
  const ofTool = items.filter((item) => isWanted({ ...filter, agent: null }, item));
  const ofAgent = items.filter((item) => isWanted({ ...filter, tool: null }, item));
  return {
    agents: countBy(ofTool, ({ agent }) => agent),
    tools: countBy(ofAgent, ({ resolved }) => resolved.tool),
  };
}
