import type { Approval } from '../../core/approval.ts';
import type { RouteAnswer } from '../route.ts';
import { toWireApproval } from '../schemas/approval.ts';

export const ETAG_HEADER = { ETag: 'the version as a strong tag, for `If-Match`' };

/** An approval with its version as `ETag` (RFC 9110 §8.8.3). */
export function approvalAnswer(approval: Approval): RouteAnswer {
  return { body: toWireApproval(approval), headers: { ETag: `"${approval.version}"` } };
}
