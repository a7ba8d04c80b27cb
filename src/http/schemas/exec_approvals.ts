import * as z from 'zod';
import { EXEC_ASKS, EXEC_FALLBACKS, EXEC_SECURITIES } from '../../core/exec_approvals.ts';
import { FULL_FALLBACK_REFUSED } from '../../core/exec_approvals_document.ts';
import { PATTERN_CHARACTERS_MAX } from '../../core/exec_approvals_pattern.ts';
import { USAGE_TEXT_MAX } from '../../core/exec_approvals_usage.ts';
import type { ExecApprovals } from '../../operations/exec_approvals/get_exec_approvals.ts';
import { prose, sentInstant, sha256 } from './common.ts';

const settings = {
  security: z.enum(EXEC_SECURITIES).optional().meta({ description: '`deny` where it is set nowhere' }),
  ask: z.enum(EXEC_ASKS).optional().meta({ description: '`on-miss` where it is set nowhere' }),
  ask_fallback: z
    .enum(EXEC_FALLBACKS, { error: ({ input }) => (input === 'full' ? FULL_FALLBACK_REFUSED : undefined) })
    .optional()
    .meta({ description: 'what holds where nobody could answer; `deny` where it is set nowhere' }),
  auto_allow_skills: z.boolean().optional().meta({ description: 'for keys made with `skill: true` alone' }),
};

const entry = z
  .strictObject({
    id: z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,128}$/, 'must be 1 to 128 of `A-Z a-z 0-9 . _ -`')
      .optional()
      .meta({ description: 'made by the service where it is left out' }),
    pattern: z.string().min(1).max(PATTERN_CHARACTERS_MAX).meta({
      description:
        'an absolute path, or one that starts with `~/` for any usual home; `*` and `?` within a name, `**` for any folders',
    }),
    last_used_at: sentInstant.optional(),
    last_used_command: prose(USAGE_TEXT_MAX).optional().meta({ description: 'secrets in it are masked' }),
    last_resolved_path: prose(USAGE_TEXT_MAX).optional(),
  })
  .meta({ id: 'AllowlistEntry' });

const agent = z.strictObject({ ...settings, allowlist: z.array(entry).optional() });

/** Exec approvals as sent and as answered; whether they hold together is the operation's to say. */
export const execApprovalsDocument = z
  .strictObject({
    version: z.literal(1),
    defaults: z.strictObject(settings),
    agents: z.record(z.string(), agent).meta({
      description: 'by principal; what is set for `*` holds for every agent that does not set it',
    }),
  })
  .meta({ id: 'ExecApprovalsDocument' });

export const execApprovalsOutput = z
  .strictObject({
    document: execApprovalsDocument,
    hash: sha256.nullable().meta({
      description: 'of the canonical JSON of the document without `last_…` members; null for nothing stored',
    }),
  })
  .meta({ id: 'ExecApprovals' });

export const putExecApprovalsBody = z
  .strictObject({
    document: execApprovalsDocument,
    base_hash: sha256.nullable().optional().meta({
      description: 'replace only what has this hash, or with null only nothing; left out: whatever is there',
    }),
  })
  .meta({ id: 'PutExecApprovalsRequest' });

export function toWireExecApprovals({ document, hash }: ExecApprovals): z.input<typeof execApprovalsOutput> {
  return { document, hash };
}
