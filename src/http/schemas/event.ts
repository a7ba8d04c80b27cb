import * as z from 'zod';
import type { EventNews } from '../../core/approval_summary.ts';
import { APPROVAL_EVENT_TYPES } from '../../core/event_ports.ts';
import { approvalStatus } from './approval.ts';
import { idOf, instant, sha256 } from './common.ts';

/** What is told of an event: the `data` of a stream, the body of a webhook. */
export const approvalEventOutput = z
  .strictObject({
    type: z.enum(APPROVAL_EVENT_TYPES),
    at: instant,
    approval_id: idOf('approval'),
    version: z.int().min(1),
    status: approvalStatus.meta({ description: 'as the event left it' }),
    agent: z.string(),
    session_id: z.string().nullable(),
    run_id: z.string().nullable(),
    workspace: z.string().nullable(),
    environment: z.string().nullable(),
    tool: z.string().meta({ description: 'what it resolved to, as `action`' }),
    action: z.string(),
    resource: z.string().nullable().meta({ description: 'secrets in it are masked' }),
    action_hash: sha256.meta({ description: 'as the event left it' }),
    reason: z.string(),
    edited: z.boolean(),
    votes: z.int().min(0).meta({ description: 'to approve, that count now' }),
    votes_required: z.int().min(1),
    groups_required: z.array(z.string()),
    decided_by: z.string().nullable(),
    decision_reason: z.string().nullable(),
    void_reason: z.enum(['policy', 'key_revoked', 'agent_frozen']).nullable(),
    created_at: instant,
    expires_at: instant,
  })
  .meta({
    id: 'ApprovalEvent',
    description:
      'an event, with the approval in short: what the event does not fix is as it was when the event was read',
  }) satisfies z.ZodType<EventNews>;
