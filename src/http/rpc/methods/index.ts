import type { AnyRpcMethod } from '../method.ts';
import { execApprovalsMethods, pendingMethod } from './exec_approvals.ts';
import { requestMethod, waitDecisionMethod } from './request.ts';
import { resolveMethod } from './resolve.ts';

/** Every method. Connections, the OpenAPI document and the refusal tests read this list. */
export const RPC_METHODS: readonly AnyRpcMethod[] = [
  requestMethod,
  waitDecisionMethod,
  resolveMethod,
  pendingMethod,
  ...execApprovalsMethods,
];
