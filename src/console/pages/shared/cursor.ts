import { Fault } from '../../../core/fault.ts';
import { formatId, parseId } from '../../../core/ids.ts';

/** Items of a page of a list. */
export const PAGE_SIZE = 50;

/** The item that a page continues after. @throws Fault `invalid_request` for what is no cursor. */
export function readCursor(query: URLSearchParams): string | null {
  const cursor = query.get('cursor');
  if (cursor === null) return null;
  const before = parseId('approval', cursor);
  if (before !== undefined) return before;
  throw new Fault('invalid_request', 'this page of the list is not there. Begin again with the first');
}

/** The cursor of the page after the one that ends with an item; null after the last. */
export function toCursor(next: string | null): string | null {
  return next === null ? null : formatId('approval', next);
}
