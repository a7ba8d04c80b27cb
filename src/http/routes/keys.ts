import * as z from 'zod';
import { ROLES } from '../../core/caller.ts';
import { formatId } from '../../core/ids.ts';
import type { KeyRecord } from '../../core/ports.ts';
import { createKey } from '../../operations/create_key.ts';
import { listKeys } from '../../operations/list_keys.ts';
import { revokeKey } from '../../operations/revoke_key.ts';
import { defineRoute } from '../route.ts';
import {
  idOf,
  instant,
  plainText,
  principalName,
  prose,
  sentInstant,
  sourceTrust,
} from '../schemas/common.ts';
import { groupNames } from '../schemas/principal.ts';

const PLACES_MAX = 100;
const TEXT_MAX = 256;
const PATH_MAX = 1024;

const role = z.enum(ROLES);
const places = z.array(plainText(TEXT_MAX)).min(1).max(PLACES_MAX);

const createBody = z
  .strictObject({
    principal: principalName,
    roles: z.array(role).min(1).max(ROLES.length),
    groups: groupNames.optional(),
    owner: principalName.nullish(),
    expires_at: sentInstant.nullish(),
    source_trust_ceiling: sourceTrust.optional(),
    environments: places.optional(),
    workspaces: places.optional(),
    unattended: z.boolean().optional(),
    workspace_root: plainText(PATH_MAX).optional(),
    skill: z.boolean().optional(),
  })
  .meta({ id: 'CreateKeyRequest' });

const keyMembers = {
  id: idOf('key'),
  principal: z.string(),
  roles: z.array(role),
  groups: z.array(z.string()),
  owner: z.string().nullable(),
  source_trust_ceiling: sourceTrust,
  environments: z.array(z.string()).nullable(),
  workspaces: z.array(z.string()).nullable(),
  unattended: z.boolean(),
  workspace_root: z.string().nullable(),
  skill: z.boolean(),
  created_by: z.string().nullable(),
  created_at: instant,
  expires_at: instant.nullable(),
  revoked_at: instant.nullable(),
  revoke_reason: z.string().nullable(),
};

function toWireKey(record: KeyRecord) {
  const { limits } = record;
  return {
    id: formatId('key', record.keyId),
    principal: record.principal,
    roles: record.roles,
    groups: record.groups,
    owner: record.owner,
    source_trust_ceiling: limits.sourceTrustCeiling,
    environments: limits.environments,
    workspaces: limits.workspaces,
    unattended: limits.unattended,
    workspace_root: limits.workspaceRoot,
    skill: limits.skill,
    created_by: record.createdBy,
    created_at: record.createdAt.toISOString(),
    expires_at: record.expiresAt?.toISOString() ?? null,
    revoked_at: record.revokedAt?.toISOString() ?? null,
    revoke_reason: record.revokeReason,
  };
}

export const createKeyRoute = defineRoute({
  operationId: 'createKey',
  summary: 'Make a key; its token is shown once',
  method: 'post',
  path: '/v1/keys',
  roles: ['operator'],
  body: createBody,
  success: {
    status: 201,
    description: 'the key with its token',
    schema: z.strictObject({ ...keyMembers, key: z.string() }).meta({ id: 'CreatedKey' }),
  },
  problems: [],
  handle: async ({ deps, caller, body }) => {
    const { record, token } = await createKey(deps, caller, {
      principal: body.principal,
      roles: body.roles,
      groups: body.groups ?? [],
      owner: body.owner ?? undefined,
      expiresAt: body.expires_at == null ? undefined : new Date(body.expires_at),
      limits: {
        sourceTrustCeiling: body.source_trust_ceiling,
        environments: body.environments,
        workspaces: body.workspaces,
        unattended: body.unattended,
        workspaceRoot: body.workspace_root,
        skill: body.skill,
      },
    });
    return { body: { ...toWireKey(record), key: token } };
  },
});

export const listKeysRoute = defineRoute({
  operationId: 'listKeys',
  summary: 'List keys, without their secrets',
  method: 'get',
  path: '/v1/keys',
  roles: ['operator'],
  success: {
    status: 200,
    description: 'all keys, newest first',
    schema: z
      .strictObject({
        items: z.array(z.strictObject(keyMembers).meta({ id: 'Key' })),
        next_cursor: z.null(),
      })
      .meta({ id: 'KeyPage' }),
  },
  problems: [],
  handle: async ({ deps, caller }) => {
    const records = await listKeys(deps, caller);
    return { body: { items: records.map(toWireKey), next_cursor: null } };
  },
});

export const revokeKeyRoute = defineRoute({
  operationId: 'revokeKey',
  summary: 'Revoke a key, and what rested on it',
  description: '`reason=rotated` keeps the votes it cast.',
  method: 'delete',
  path: '/v1/keys/:id',
  roles: ['operator'],
  query: z.strictObject({ reason: prose(TEXT_MAX).optional() }),
  success: { status: 204, description: 'revoked' },
  problems: ['not_found', 'last_operator_key'],
  handle: async ({ deps, caller, id, query }) => {
    await revokeKey(deps, caller, id, query.reason ?? null);
    return {};
  },
});
