import * as z from 'zod';
import { deleteTool } from '../../operations/rules/delete_tool.ts';
import { listTools } from '../../operations/rules/list_tools.ts';
import { putTool } from '../../operations/rules/put_tool.ts';
import { parseRevisionTag, toRevisionTag } from '../revision_tag.ts';
import { defineRoute } from '../route.ts';
import { sha256 } from '../schemas/common.ts';
import { REVISION_ETAG } from '../schemas/rules.ts';
import { toolInput, toolMembers, toolOutput, toRegistration, toWireTool } from '../schemas/tools.ts';

const NAMES = { tool: "the tool's name", action: "its operation's name" };

export const listToolsRoute = defineRoute({
  operationId: 'listTools',
  summary: 'List the tools that are registered, with their facts',
  description: 'Those of the base set as the tenant has tightened them.',
  method: 'get',
  path: '/v1/tools',
  roles: ['operator'],
  success: {
    status: 200,
    description: 'all tools, by name',
    schema: z.strictObject({ items: z.array(toolOutput), next_cursor: z.null() }).meta({ id: 'ToolPage' }),
    headers: REVISION_ETAG,
  },
  problems: [],
  handle: async ({ deps, caller }) => {
    const { entries, revision } = await listTools(deps, caller);
    return {
      body: { items: entries.map(toWireTool), next_cursor: null },
      headers: { ETag: toRevisionTag(revision) },
    };
  },
});

export const putToolRoute = defineRoute({
  operationId: 'putTool',
  summary: 'Register an operation of a tool',
  description:
    'Facts left out are false. A schema is closed at every level unless it says `additionalProperties` itself; without one policy is shown no parameters. A base tool can only be tightened.',
  method: 'put',
  path: '/v1/tools/:tool/:action',
  params: NAMES,
  roles: ['operator'],
  headers: ['if-match'],
  body: toolInput,
  success: {
    status: 200,
    description: 'the tool as it is registered, and the revision it is part of',
    schema: z.strictObject({ ...toolMembers, revision: sha256 }).meta({ id: 'RegisteredTool' }),
    headers: REVISION_ETAG,
  },
  problems: ['tool_invalid', 'policy_invalid', 'base_tool', 'stale_version'],
  handle: async ({ deps, caller, params, body, header }) => {
    const { entry, revision } = await putTool(deps, caller, {
      tool: params.tool ?? '',
      action: params.action ?? '',
      registration: toRegistration(body),
      expectedRevision: parseRevisionTag(header('if-match')),
    });
    return { body: { ...toWireTool(entry), revision }, headers: { ETag: toRevisionTag(revision) } };
  },
});

export const deleteToolRoute = defineRoute({
  operationId: 'deleteTool',
  summary: 'Take a registration away',
  description: 'Its calls are then those of an unregistered tool. A base tool cannot be deleted.',
  method: 'delete',
  path: '/v1/tools/:tool/:action',
  params: NAMES,
  roles: ['operator'],
  headers: ['if-match'],
  success: { status: 204, description: 'deleted' },
  problems: ['not_found', 'base_tool', 'policy_invalid', 'stale_version'],
  handle: async ({ deps, caller, params, header }) => {
    const expectedRevision = parseRevisionTag(header('if-match'));
    await deleteTool(deps, caller, params.tool ?? '', params.action ?? '', expectedRevision);
    return {};
  },
});
