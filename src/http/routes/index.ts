import type { AnyRoute } from '../route.ts';
import {
  freezeAgentRoute,
  getSessionRoute,
  putSessionRoute,
  resumeAgentRoute,
  resumeSessionRoute,
  unfreezeAgentRoute,
} from './agents.ts';
import { authorizeRoute } from './authorize.ts';
import { consumeRoute, outcomeRoute } from './consume_approvals.ts';
import { approveRoute, cancelRoute, editRoute, rejectRoute } from './decide_approvals.ts';
import { liftDenialRoute, listDenialsRoute } from './denials.ts';
import { followEventsRoute } from './events.ts';
import { getExecApprovalsRoute, putExecApprovalsRoute, suggestExecApprovalsRoute } from './exec_approvals.ts';
import { listGrantsRoute, revokeGrantRoute } from './grants.ts';
import { createKeyRoute, listKeysRoute, revokeKeyRoute } from './keys.ts';
import { meRoute } from './me.ts';
import { activateRevisionRoute, getPoliciesRoute, listRevisionsRoute, putPoliciesRoute } from './policies.ts';
import { explainRoute, simulatePoliciesRoute, validatePoliciesRoute } from './policy_trials.ts';
import { getPrincipalRoute, putPrincipalRoute } from './principals.ts';
import { getApprovalRoute, listApprovalsRoute } from './read_approvals.ts';
import { getReviewRoute } from './review.ts';
import { scrubRoute } from './scrub.ts';
import { getSettingsRoute, putSettingsRoute } from './settings.ts';
import { signatureOptionsRoute } from './signature_options.ts';
import { createTenantRoute } from './tenants.ts';
import { getToolPermissionsRoute, putToolPermissionsRoute } from './tool_permissions.ts';
import { deleteToolRoute, listToolsRoute, putToolRoute } from './tools.ts';
import {
  beginRegistrationRoute,
  createEnrolmentCodeRoute,
  finishRegistrationRoute,
  listPasskeysRoute,
  removePasskeyRoute,
} from './webauthn.ts';
import {
  createWebhookRoute,
  deleteWebhookRoute,
  listDeliveriesRoute,
  listWebhooksRoute,
  redeliverRoute,
  rotateWebhookRoute,
} from './webhooks.ts';

/** Every endpoint behind a credential. The app, the OpenAPI document and the refusal tests read this list. */
export const ROUTES: readonly AnyRoute[] = [
  authorizeRoute,
  listApprovalsRoute,
  getApprovalRoute,
  getReviewRoute,
  approveRoute,
  rejectRoute,
  editRoute,
  cancelRoute,
  consumeRoute,
  outcomeRoute,
  followEventsRoute,
  meRoute,
  listGrantsRoute,
  revokeGrantRoute,
  createKeyRoute,
  listKeysRoute,
  revokeKeyRoute,
  createTenantRoute,
  getPoliciesRoute,
  putPoliciesRoute,
  validatePoliciesRoute,
  simulatePoliciesRoute,
  explainRoute,
  listRevisionsRoute,
  activateRevisionRoute,
  listToolsRoute,
  putToolRoute,
  deleteToolRoute,
  getToolPermissionsRoute,
  putToolPermissionsRoute,
  getPrincipalRoute,
  putPrincipalRoute,
  getSettingsRoute,
  putSettingsRoute,
  getExecApprovalsRoute,
  putExecApprovalsRoute,
  suggestExecApprovalsRoute,
  freezeAgentRoute,
  unfreezeAgentRoute,
  resumeAgentRoute,
  getSessionRoute,
  putSessionRoute,
  resumeSessionRoute,
  listDenialsRoute,
  liftDenialRoute,
  scrubRoute,
  createWebhookRoute,
  listWebhooksRoute,
  deleteWebhookRoute,
  rotateWebhookRoute,
  listDeliveriesRoute,
  redeliverRoute,
  createEnrolmentCodeRoute,
  beginRegistrationRoute,
  finishRegistrationRoute,
  listPasskeysRoute,
  removePasskeyRoute,
  signatureOptionsRoute,
];
