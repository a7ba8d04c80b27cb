import { getApproval } from '../../operations/get_approval.ts';
import { maskerOf } from '../../operations/masking.ts';
import { formatReviewOf, reviewOf } from '../../operations/review.ts';
import { negotiate } from '../negotiate.ts';
import { defineRoute } from '../route.ts';
import { reviewOutput } from '../schemas/review.ts';

const TEXT = 'text/plain';
const HEADERS = { Vary: 'Accept' };

export const getReviewRoute = defineRoute({
  operationId: 'getReview',
  summary: 'Read what an approver is shown of the action',
  description:
    'The `review` of the approval; for `Accept: text/plain` as text of 80 columns, with what stands beside it and, fenced off, the agent’s own words.',
  method: 'get',
  path: '/v1/approvals/:id/review',
  roles: ['approver', 'operator', 'auditor', 'agent'],
  attempts: 'read first',
  success: {
    status: 200,
    description: 'the view of the present version',
    schema: reviewOutput,
    alternative: TEXT,
    headers: { Vary: '`Accept`' },
  },
  problems: [],
  handle: async ({ deps, caller, id, header }) => {
    const approval = await getApproval(deps, caller, id);
    const masker = maskerOf(caller);
    if (negotiate(header('accept'), ['application/json', TEXT]) !== TEXT) {
      return { body: reviewOf(approval, masker), headers: HEADERS };
    }
    const bytes = new TextEncoder().encode(formatReviewOf(approval, masker));
    return { raw: { bytes, mediaType: `${TEXT}; charset=utf-8` }, headers: HEADERS };
  },
});
