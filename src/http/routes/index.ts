import type { AnyRoute } from '../route.ts';
import { authorizeRoute } from './authorize.ts';
import { consumeRoute, outcomeRoute } from './consume_approvals.ts';
import { approveRoute, cancelRoute, editRoute, rejectRoute } from './decide_approvals.ts';
import { createKeyRoute, listKeysRoute, revokeKeyRoute } from './keys.ts';
import { meRoute } from './me.ts';
import { getApprovalRoute, listApprovalsRoute } from './read_approvals.ts';
import { createTenantRoute } from './tenants.ts';

/** Every endpoint behind a credential. The app, the OpenAPI document and the refusal tests read this list. */
export const ROUTES: readonly AnyRoute[] = [
  authorizeRoute,
  listApprovalsRoute,
  getApprovalRoute,
  approveRoute,
  rejectRoute,
  editRoute,
  cancelRoute,
  consumeRoute,
  outcomeRoute,
  meRoute,
  createKeyRoute,
  listKeysRoute,
  revokeKeyRoute,
  createTenantRoute,
];
