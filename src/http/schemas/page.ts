import * as z from 'zod';
import { Fault } from '../../core/fault.ts';
import { type IdKind, parseId } from '../../core/ids.ts';

const LIMIT_MAX = 200;

/** Items of a page that names no `limit`. */
export const LIMIT_DEFAULT = 50;

/** A whole number as query text. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be ${min} to ${max}`)
    .meta({ override: { type: 'integer', minimum: min, maximum: max } });

/** What the query of every list that comes in pages has. */
export const pageMembers = {
  limit: wholeNumber(1, LIMIT_MAX).optional(),
  cursor: z.string().min(1).max(128).optional(),
};

/** The item that a cursor continues after, by its UUID. @throws Fault `invalid_request` for what is no cursor. */
export function parseCursor(kind: IdKind, cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const before = parseId(kind, cursor);
  if (before !== undefined) return before;
  throw new Fault('invalid_request', 'send `cursor` as `next_cursor` was answered', {
    issues: [{ pointer: '/cursor', reason: 'is no cursor of this list' }],
  });
}
