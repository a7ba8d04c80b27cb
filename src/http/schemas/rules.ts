import * as z from 'zod';
import { PERMISSIONS } from '../../core/policy.ts';
import type { RevisionRecord } from '../../core/rules_ports.ts';
import type { PoliciesInForce } from '../../operations/rules/policies_in_force.ts';
import { toRevisionTag } from '../revision_tag.ts';
import type { RouteAnswer } from '../route.ts';
import { instant, prose, sha256 } from './common.ts';

/** Where policies and tools are changed, bodies may be this large (wire contract, "Errors"). */
export const POLICY_BODY_BYTES_MAX = 8 * 1024 * 1024;

const NOTE_MAX = 1000;

/** Cedar policies, each with an `@id`. */
export const policyText = z.string().meta({ description: 'Cedar policies, each with an `@id`' });

export const note = prose(NOTE_MAX).nullish().meta({ description: 'why; kept with the revision' });

export const permission = z.enum(PERMISSIONS);

const policyTexts = z.record(z.string(), z.string());

/** One thing that is wrong with a policy. */
export const policyProblemOutput = z
  .strictObject({
    policy_id: z.string().nullable(),
    message: z.string(),
    help: z.string().nullable().meta({ description: 'what would mend it' }),
    line: z.int().min(1).nullable(),
    column: z.int().min(1).nullable(),
  })
  .meta({ id: 'PolicyProblem' });

export const policiesOutput = z
  .strictObject({
    revision: sha256,
    activated_at: instant,
    activated_by: z.string().nullable().meta({ description: 'null for the policy folder' }),
    base: policyTexts.meta({ description: 'the policy folder’s, by id; every tenant has them' }),
    tenant: policyTexts.meta({ description: 'the tenant’s own, by id' }),
    warnings: z
      .array(z.strictObject({ policy_id: z.string(), message: z.string(), help: z.string() }))
      .meta({ description: 'what works and is probably not meant: groups that nobody is in' }),
  })
  .meta({ id: 'Policies' });

export const REVISION_ETAG = { ETag: 'the revision as a strong tag, for `If-Match`' };

/** The set in force with its revision as `ETag`. */
export function policiesAnswer(policies: PoliciesInForce): RouteAnswer {
  const body: z.input<typeof policiesOutput> = {
    revision: policies.revision,
    activated_at: policies.activatedAt.toISOString(),
    activated_by: policies.activatedBy,
    base: policies.base,
    tenant: policies.tenant,
    warnings: policies.warnings.map(({ policyId, message, help }) => ({
      policy_id: policyId,
      message,
      help,
    })),
  };
  return { body, headers: { ETag: toRevisionTag(policies.revision) } };
}

export const revisionOutput = z
  .strictObject({
    revision: sha256,
    note: z.string().nullable(),
    created_by: z.string().nullable(),
    created_at: instant,
    activated_at: instant.nullable().meta({ description: 'when it was last activated' }),
    activated_by: z.string().nullable(),
    active: z.boolean(),
  })
  .meta({ id: 'Revision' });

export function toWireRevision(record: RevisionRecord): z.input<typeof revisionOutput> {
  return {
    revision: record.revision,
    note: record.note,
    created_by: record.createdBy,
    created_at: record.createdAt.toISOString(),
    activated_at: record.activatedAt?.toISOString() ?? null,
    activated_by: record.activatedBy,
    active: record.isActive,
  };
}
