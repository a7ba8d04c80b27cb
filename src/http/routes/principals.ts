import * as z from 'zod';
import type { PrincipalSettings } from '../../core/agent_ports.ts';
import { getPrincipal } from '../../operations/get_principal.ts';
import { putPrincipal } from '../../operations/put_principal.ts';
import { defineRoute } from '../route.ts';
import { plainText, principalName } from '../schemas/common.ts';
import { groupNames } from '../schemas/principal.ts';

const RISK_TIER_MAX = 64;
const FOREIGN_NAME_MAX = 256;

const PARAMS = { id: 'the principal' };

const putBody = z
  .strictObject({
    groups: groupNames,
    owner: principalName.nullish(),
    risk_tier: plainText(RISK_TIER_MAX).nullish(),
    slack_user: plainText(FOREIGN_NAME_MAX).nullish(),
    oidc_subject: plainText(FOREIGN_NAME_MAX).nullish(),
    disabled: z.boolean().optional(),
  })
  .meta({ id: 'PutPrincipalRequest' });

const principalOutput = z
  .strictObject({
    principal: z.string(),
    groups: z.array(z.string()),
    owner: z.string().nullable(),
    risk_tier: z.string().nullable(),
    slack_user: z.string().nullable(),
    oidc_subject: z.string().nullable(),
    disabled: z.boolean(),
  })
  .meta({ id: 'Principal' });

function toWirePrincipal({ principal, settings }: { principal: string; settings: PrincipalSettings }) {
  return {
    principal,
    groups: settings.groups,
    owner: settings.owner,
    risk_tier: settings.riskTier,
    slack_user: settings.slackUser,
    oidc_subject: settings.oidcSubject,
    disabled: settings.disabled,
  };
}

export const getPrincipalRoute = defineRoute({
  operationId: 'getPrincipal',
  summary: 'Read a principal',
  method: 'get',
  path: '/v1/principals/:id',
  params: PARAMS,
  roles: ['operator'],
  success: { status: 200, description: 'the principal', schema: principalOutput },
  problems: ['not_found'],
  handle: async ({ deps, caller, id }) => ({ body: toWirePrincipal(await getPrincipal(deps, caller, id)) }),
});

export const putPrincipalRoute = defineRoute({
  operationId: 'putPrincipal',
  summary: 'Make a principal, or replace it',
  description:
    'What the body leaves out is set to null or false, but for `owner`, which stays: null takes it away. A disabled principal has no standing: its keys are refused, its votes on open approvals are dropped, what it asked for is void. Enabling it gives its keys back, not its votes.',
  method: 'put',
  path: '/v1/principals/:id',
  params: PARAMS,
  roles: ['operator'],
  body: putBody,
  success: { status: 200, description: 'the principal', schema: principalOutput },
  problems: ['not_found', 'last_operator_key'],
  handle: async ({ deps, caller, id, body }) => {
    const put = await putPrincipal(deps, caller, id, {
      groups: body.groups,
      owner: body.owner,
      riskTier: body.risk_tier ?? null,
      slackUser: body.slack_user ?? null,
      oidcSubject: body.oidc_subject ?? null,
      disabled: body.disabled ?? false,
    });
    return { body: toWirePrincipal(put) };
  },
});
