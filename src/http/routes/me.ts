import * as z from 'zod';
import { ROLES } from '../../core/caller.ts';
import { formatId } from '../../core/ids.ts';
import { defineRoute } from '../route.ts';
import { idOf, instant } from '../schemas/common.ts';

export const meRoute = defineRoute({
  operationId: 'getMe',
  summary: 'Who this credential is',
  method: 'get',
  path: '/v1/me',
  roles: 'any',
  success: {
    status: 200,
    description: 'the caller',
    schema: z
      .strictObject({
        tenant_id: z.string(),
        principal: z.string(),
        roles: z.array(z.enum(ROLES)),
        groups: z.array(z.string()),
        key_id: idOf('key'),
        expires_at: instant.nullable(),
      })
      .meta({ id: 'Me' }),
  },
  problems: [],
  handle: async ({ caller }) => ({
    body: {
      tenant_id: caller.tenantId,
      principal: caller.principal,
      roles: caller.roles,
      groups: caller.groups,
      key_id: formatId('key', caller.keyId),
      expires_at: caller.expiresAt?.toISOString() ?? null,
    },
  }),
});
