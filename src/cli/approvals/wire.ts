import * as z from 'zod';
import { ID_PREFIXES, UUID_V7_PATTERN } from '../../core/ids.ts';
import { CommandFailed } from '../command.ts';
import type { Answer } from './client.ts';

// What this client reads of answers. Members and states that it does not know are fine.

const approvalId = z.string().regex(new RegExp(`^${ID_PREFIXES.approval}${UUID_V7_PATTERN}$`));
/** As the service writes it. `Date.parse` takes more, such as comments with anything in them, and it is shown as it is. */
const instant = z.iso.datetime();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const vote = z.looseObject({
  approver: z.string(),
  decision: z.string(),
  scope: z.string(),
  reason: z.string().nullable(),
  at: instant,
});

const approval = z.looseObject({
  approval_id: approvalId,
  version: z.int().min(1),
  status: z.string(),
  agent: z.string(),
  context: z.looseObject({
    session_id: z.string().nullable(),
    run_id: z.string().nullable(),
    workspace: z.string().nullable(),
    environment: z.string().nullable(),
  }),
  tool_call: z.looseObject({ resource: z.string().nullish() }),
  action_hash: sha256,
  review: z.looseObject({
    view_hash: sha256,
    lines: z.array(z.looseObject({ kind: z.string(), text: z.string() })),
  }),
  resolved: z.looseObject({ tool: z.string(), action: z.string() }),
  edited: z.boolean(),
  reason: z.string(),
  requirements: z.looseObject({
    votes: z.int(),
    groups: z.array(z.string()),
    signature: z.enum(['none', 'webauthn']),
  }),
  votes: z.array(vote),
  decided_by: z.string().nullable(),
  decision_reason: z.string().nullable(),
  void_reason: z.string().nullable(),
  created_at: instant,
  expires_at: instant,
});
export type WireApproval = z.output<typeof approval>;

const page = z.looseObject({ items: z.array(approval), next_cursor: z.string().nullable() });

const news = z.looseObject({
  approval_id: approvalId,
  status: z.string(),
  agent: z.string(),
  tool: z.string(),
  action: z.string(),
  resource: z.string().nullable(),
  votes: z.int(),
  votes_required: z.int(),
  groups_required: z.array(z.string()),
  decided_by: z.string().nullable(),
  decision_reason: z.string().nullable(),
  void_reason: z.string().nullable(),
  expires_at: instant,
  at: instant,
});
/** What an event tells of an approval. */
export type WireNews = z.output<typeof news>;

/** @throws CommandFailed for what is none, so that nothing is decided by half an answer. */
export function readApproval(answer: Answer): WireApproval {
  return read(approval, answer.text);
}

/** @throws CommandFailed for what is none. */
export function readPage(answer: Answer): z.output<typeof page> {
  return read(page, answer.text);
}

/** @throws CommandFailed for what is none. */
export function readNews(data: string): WireNews {
  return read(news, data);
}

function read<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new CommandFailed(
      2,
      'the service answers with what this version does not read. Check AEGIS_URL, and use the `aegis` of the service’s version',
      error,
    );
  }
}
