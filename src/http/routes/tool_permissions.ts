import * as z from 'zod';
import { getToolPermissions, type ToolPermissions } from '../../operations/rules/get_tool_permissions.ts';
import { putToolPermissions } from '../../operations/rules/put_tool_permissions.ts';
import { parseRevisionTag, toRevisionTag } from '../revision_tag.ts';
import { defineRoute, type RouteAnswer } from '../route.ts';
import { permission, REVISION_ETAG } from '../schemas/rules.ts';

const ITEMS_MAX = 1000;
const PATTERN_MAX = 1024;

const item = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(PATTERN_MAX)
    .meta({ description: '`tool.action` in normal form; `*` stands for any text' }),
  permission,
});

const output = z
  .strictObject({ items: z.array(item), next_cursor: z.null() })
  .meta({ id: 'ToolPermissions' });

function answer({ items, revision }: ToolPermissions): RouteAnswer {
  const body: z.input<typeof output> = { items, next_cursor: null };
  return { body, headers: { ETag: toRevisionTag(revision) } };
}

export const getToolPermissionsRoute = defineRoute({
  operationId: 'getToolPermissions',
  summary: 'Read the explicit permissions of tools',
  method: 'get',
  path: '/v1/tool-permissions',
  roles: ['operator'],
  success: { status: 200, description: 'all of them', schema: output, headers: REVISION_ETAG },
  problems: [],
  handle: async ({ deps, caller }) => answer(await getToolPermissions(deps, caller)),
});

export const putToolPermissionsRoute = defineRoute({
  operationId: 'putToolPermissions',
  summary: 'Replace the explicit permissions of tools',
  description:
    'An exact name beats a glob, the longer glob the shorter, the stricter wins a tie; a glob can only tighten.',
  method: 'put',
  path: '/v1/tool-permissions',
  roles: ['operator'],
  headers: ['if-match'],
  body: z.strictObject({ items: z.array(item).max(ITEMS_MAX) }).meta({ id: 'PutToolPermissionsRequest' }),
  success: { status: 200, description: 'all of them', schema: output, headers: REVISION_ETAG },
  problems: ['policy_invalid', 'stale_version'],
  handle: async ({ deps, caller, body, header }) => {
    const expectedRevision = parseRevisionTag(header('if-match'));
    return answer(await putToolPermissions(deps, caller, body.items, expectedRevision));
  },
});
