import * as z from 'zod';
import type { Grant } from '../../core/agent_ports.ts';
import { formatId } from '../../core/ids.ts';
import { listGrants } from '../../operations/list_grants.ts';
import { revokeGrant } from '../../operations/revoke_grant.ts';
import { defineRoute } from '../route.ts';
import { idOf, instant, principalName, sha256 } from '../schemas/common.ts';

const grantOutput = z
  .strictObject({
    grant_id: idOf('grant'),
    agent: z.string(),
    session_id: z.string().nullable(),
    run_id: z.string().nullable(),
    workspace: z.string().nullable(),
    environment: z.string().nullable(),
    action_hash: sha256,
    scope: z.enum(['run', 'session', 'window']),
    max_uses: z.int().nullable(),
    uses: z.int(),
    created_at: instant,
    expires_at: instant,
    policy_revision: sha256,
    granted_by: z.string(),
    approval_id: idOf('approval'),
  })
  .meta({ id: 'Grant' });

function toWireGrant(grant: Grant): z.input<typeof grantOutput> {
  return {
    grant_id: formatId('grant', grant.grantId),
    agent: grant.agent,
    session_id: grant.sessionId,
    run_id: grant.runId,
    workspace: grant.workspace,
    environment: grant.environment,
    action_hash: grant.actionHash,
    scope: grant.scope,
    max_uses: grant.maxUses,
    uses: grant.uses,
    created_at: grant.createdAt.toISOString(),
    expires_at: grant.expiresAt.toISOString(),
    policy_revision: grant.policyRevision,
    granted_by: grant.grantedBy,
    approval_id: formatId('approval', grant.approvalId),
  };
}

export const listGrantsRoute = defineRoute({
  operationId: 'listGrants',
  summary: 'List the grants in force, newest first',
  method: 'get',
  path: '/v1/grants',
  roles: ['operator', 'approver'],
  query: z.strictObject({ agent: principalName.optional() }),
  success: {
    status: 200,
    description: 'the grants',
    schema: z.strictObject({ items: z.array(grantOutput), next_cursor: z.null() }).meta({ id: 'GrantPage' }),
  },
  problems: [],
  handle: async ({ deps, caller, query }) => {
    const grants = await listGrants(deps, caller, query.agent ?? null);
    return { body: { items: grants.map(toWireGrant), next_cursor: null } };
  },
});

export const revokeGrantRoute = defineRoute({
  operationId: 'revokeGrant',
  summary: 'Revoke a grant',
  description: 'The approval it came from stays as it is; calls that it would have answered ask again.',
  method: 'delete',
  path: '/v1/grants/:id',
  params: { id: "the grant's id" },
  roles: ['operator', 'approver'],
  success: { status: 204, description: 'revoked' },
  problems: ['not_found'],
  handle: async ({ deps, caller, id }) => {
    await revokeGrant(deps, caller, id);
    return {};
  },
});
