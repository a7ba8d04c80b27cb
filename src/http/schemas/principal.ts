import * as z from 'zod';
import { GROUP_NAME } from '../../core/identifiers.ts';

const GROUPS_MAX = 50;

/** Groups that a principal is in, as a caller names them. */
export const groupNames = z
  .array(z.string().regex(GROUP_NAME, 'must be 1 to 64 of `A-Z a-z 0-9 . _ @ : -`'))
  .max(GROUPS_MAX);
