import * as z from 'zod';
import { TIERS } from '../../core/action.ts';
import { getSettings } from '../../operations/get_settings.ts';
import { putSettings } from '../../operations/put_settings.ts';
import { defineRoute } from '../route.ts';

const settings = z.strictObject({ tier: z.enum(TIERS) }).meta({ id: 'Settings' });

export const getSettingsRoute = defineRoute({
  operationId: 'getSettings',
  summary: "Read the tenant's settings",
  method: 'get',
  path: '/v1/settings',
  roles: ['operator'],
  success: { status: 200, description: 'the settings', schema: settings },
  problems: [],
  handle: async ({ deps, caller }) => ({ body: await getSettings(deps, caller) }),
});

export const putSettingsRoute = defineRoute({
  operationId: 'putSettings',
  summary: "Set the tenant's settings",
  description: 'They hold for every call decided from then on, on every replica.',
  method: 'put',
  path: '/v1/settings',
  roles: ['operator'],
  body: settings,
  success: { status: 200, description: 'the settings', schema: settings },
  problems: [],
  handle: async ({ deps, caller, body }) => ({ body: await putSettings(deps, caller, body) }),
});
