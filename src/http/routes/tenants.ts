import * as z from 'zod';
import { TENANT_ID } from '../../core/identifiers.ts';
import { formatId } from '../../core/ids.ts';
import { createTenant } from '../../operations/create_tenant.ts';
import { defineRoute } from '../route.ts';
import { idOf } from '../schemas/common.ts';

export const createTenantRoute = defineRoute({
  operationId: 'createTenant',
  summary: 'Make a tenant and its first operator key',
  description: 'Who makes a tenant has no access to its data.',
  method: 'post',
  path: '/v1/tenants',
  roles: ['platform'],
  body: z
    .strictObject({ tenant_id: z.string().regex(TENANT_ID, 'must be 1 to 63 of `a-z 0-9 -`') })
    .meta({ id: 'CreateTenantRequest' }),
  success: {
    status: 201,
    description: 'the tenant',
    schema: z
      .strictObject({
        tenant_id: z.string(),
        operator_key: z.strictObject({ id: idOf('key'), key: z.string() }),
      })
      .meta({ id: 'CreatedTenant' }),
  },
  problems: ['tenant_exists'],
  handle: async ({ deps, caller, body }) => {
    const made = await createTenant(deps, caller, body.tenant_id);
    return {
      body: {
        tenant_id: made.tenantId,
        operator_key: { id: formatId('key', made.keyId), key: made.token },
      },
    };
  },
});
