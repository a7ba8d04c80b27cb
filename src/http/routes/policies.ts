import * as z from 'zod';
import { activateRevision } from '../../operations/rules/activate_revision.ts';
import { getPolicies } from '../../operations/rules/get_policies.ts';
import { listRevisions } from '../../operations/rules/list_revisions.ts';
import { putPolicies } from '../../operations/rules/put_policies.ts';
import { parseRevisionTag } from '../revision_tag.ts';
import { defineRoute } from '../route.ts';
import {
  note,
  POLICY_BODY_BYTES_MAX,
  policiesAnswer,
  policiesOutput,
  policyText,
  REVISION_ETAG,
  revisionOutput,
  toWireRevision,
} from '../schemas/rules.ts';

export const getPoliciesRoute = defineRoute({
  operationId: 'getPolicies',
  summary: 'Read the policies in force, and since when they are',
  method: 'get',
  path: '/v1/policies',
  roles: ['operator'],
  success: {
    status: 200,
    description: 'the set in force',
    schema: policiesOutput,
    headers: REVISION_ETAG,
  },
  problems: [],
  handle: async ({ deps, caller }) => policiesAnswer(await getPolicies(deps, caller)),
});

export const putPoliciesRoute = defineRoute({
  operationId: 'putPolicies',
  summary: "Replace the tenant's own policies, and activate the set",
  description:
    'They add to the base set: they can neither repeat its ids nor remove its forbids. A set that is refused changes nothing.',
  method: 'put',
  path: '/v1/policies',
  roles: ['operator'],
  headers: ['if-match'],
  body: z.strictObject({ text: policyText, note }).meta({ id: 'PutPoliciesRequest' }),
  bodyBytesMax: POLICY_BODY_BYTES_MAX,
  success: {
    status: 200,
    description: 'the set in force',
    schema: policiesOutput,
    headers: REVISION_ETAG,
  },
  problems: ['policy_invalid', 'stale_version'],
  handle: async ({ deps, caller, body, header }) => {
    const expectedRevision = parseRevisionTag(header('if-match'));
    const input = { text: body.text, note: body.note ?? null, expectedRevision };
    return policiesAnswer(await putPolicies(deps, caller, input));
  },
});

export const listRevisionsRoute = defineRoute({
  operationId: 'listRevisions',
  summary: 'List the revisions the tenant has had, newest first',
  method: 'get',
  path: '/v1/policies/revisions',
  roles: ['operator'],
  success: {
    status: 200,
    description: 'all revisions',
    schema: z
      .strictObject({ items: z.array(revisionOutput), next_cursor: z.null() })
      .meta({ id: 'RevisionPage' }),
  },
  problems: [],
  handle: async ({ deps, caller }) => {
    const records = await listRevisions(deps, caller);
    return { body: { items: records.map(toWireRevision), next_cursor: null } };
  },
});

export const activateRevisionRoute = defineRoute({
  operationId: 'activateRevision',
  summary: 'Go back to a revision that the tenant had',
  description:
    'To its policies, tools and permissions. The base set in force stays, so the answer names another revision when it has changed since.',
  method: 'post',
  path: '/v1/policies/revisions/:revision/activate',
  params: { revision: 'the revision, as listed' },
  roles: ['operator'],
  headers: ['if-match'],
  success: {
    status: 200,
    description: 'the set in force',
    schema: policiesOutput,
    headers: REVISION_ETAG,
  },
  problems: ['not_found', 'policy_invalid', 'stale_version'],
  handle: async ({ deps, caller, params, header }) => {
    const expectedRevision = parseRevisionTag(header('if-match'));
    return policiesAnswer(await activateRevision(deps, caller, params.revision ?? '', expectedRevision));
  },
});
