import type { Client } from './client.ts';
import { readPage, type WireApproval } from './wire.ts';

const PAGE_LIMIT = 100;

export interface Filter {
  status?: string;
  agent?: string;
  tool?: string;
}

/** All approvals that match, over all pages, newest first, and when the last of them were read. */
export async function readAllApprovals(
  client: Client,
  filter: Filter,
): Promise<{ items: WireApproval[]; at: number }> {
  const items: WireApproval[] = [];
  let cursor: string | null = null;
  let at = 0;
  do {
    const query = new URLSearchParams({ ...filter, limit: String(PAGE_LIMIT) });
    if (cursor !== null) query.set('cursor', cursor);
    const answer = await client.get(`/v1/approvals?${query}`);
    const page = readPage(answer);
    items.push(...page.items);
    at = answer.at;
    cursor = page.next_cursor;
  } while (cursor !== null);
  return { items, at };
}
