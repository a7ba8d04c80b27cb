import * as z from 'zod';
import type { DenialRecord } from '../../core/agent_ports.ts';
import { formatId } from '../../core/ids.ts';
import { liftDenial } from '../../operations/lift_denial.ts';
import { listDenials } from '../../operations/list_denials.ts';
import { defineRoute } from '../route.ts';
import { idOf, instant, principalName, sha256 } from '../schemas/common.ts';
import { LIMIT_DEFAULT, pageMembers, parseCursor } from '../schemas/page.ts';

const denialOutput = z
  .strictObject({
    denial_id: idOf('denial'),
    agent: z.string(),
    session_id: z.string().nullable(),
    tool: z.string().meta({ description: 'as resolved' }),
    action: z.string().meta({ description: 'as resolved' }),
    action_hash: sha256,
    approval_id: idOf('approval'),
    denied_by: z.string(),
    reason: z.string().nullable().meta({ description: "the person's own words" }),
    created_at: instant,
  })
  .meta({ id: 'Denial' });

function toWireDenial(denial: DenialRecord) {
  return {
    denial_id: formatId('denial', denial.denialId),
    agent: denial.agent,
    session_id: denial.sessionId,
    tool: denial.resolved.tool,
    action: denial.resolved.action,
    action_hash: denial.actionHash,
    approval_id: formatId('approval', denial.approvalId),
    denied_by: denial.deniedBy,
    reason: denial.reason,
    created_at: denial.createdAt.toISOString(),
  };
}

export const listDenialsRoute = defineRoute({
  operationId: 'listDenials',
  summary: 'List the rejections that hold, newest first',
  description:
    'A rejection holds in its session for ever, and in every session of its agent for `AEGIS_DENIAL_SECS`.',
  method: 'get',
  path: '/v1/denials',
  roles: ['operator'],
  query: z.strictObject({ agent: principalName.optional(), ...pageMembers }),
  success: {
    status: 200,
    description: 'a page',
    schema: z
      .strictObject({ items: z.array(denialOutput), next_cursor: z.string().nullable() })
      .meta({ id: 'DenialPage' }),
  },
  problems: [],
  handle: async ({ deps, caller, query }) => {
    const page = await listDenials(deps, caller, {
      agent: query.agent ?? null,
      limit: query.limit ?? LIMIT_DEFAULT,
      before: parseCursor('denial', query.cursor),
    });
    return {
      body: {
        items: page.items.map(toWireDenial),
        next_cursor: page.next === null ? null : formatId('denial', page.next),
      },
    };
  },
});

export const liftDenialRoute = defineRoute({
  operationId: 'liftDenial',
  summary: 'Lift one rejection',
  description: 'The action may be asked for again. Pauses stay.',
  method: 'delete',
  path: '/v1/denials/:id',
  params: { id: "the denial's id" },
  roles: ['operator'],
  success: { status: 204, description: 'lifted' },
  problems: ['not_found'],
  handle: async ({ deps, caller, id }) => {
    await liftDenial(deps, caller, id);
    return {};
  },
});
