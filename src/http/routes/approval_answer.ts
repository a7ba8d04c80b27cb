import type { Approval } from '../../core/approval.ts';
import type { Caller } from '../../core/caller.ts';
import type { RouteAnswer } from '../route.ts';
import { toWireApproval } from '../schemas/approval.ts';

export const ETAG_HEADER = { ETag: 'the version as a strong tag, for `If-Match`' };

/** An approval as its reader may see it, with its version as `ETag` (RFC 9110 §8.8.3). */
export function approvalAnswer(approval: Approval, reader: Caller): RouteAnswer {
  return { body: toWireApproval(approval, reader), headers: { ETag: `"${approval.version}"` } };
}
