import * as z from 'zod';
import { getExecApprovals } from '../../operations/exec_approvals/get_exec_approvals.ts';
import { putExecApprovals } from '../../operations/exec_approvals/put_exec_approvals.ts';
import { suggestExecApprovals } from '../../operations/exec_approvals/suggest_exec_approvals.ts';
import { defineRoute } from '../route.ts';
import { instant } from '../schemas/common.ts';
import { execApprovalsOutput, putExecApprovalsBody, toWireExecApprovals } from '../schemas/exec_approvals.ts';

const success = { status: 200, description: 'the document', schema: execApprovalsOutput } as const;

export const getExecApprovalsRoute = defineRoute({
  operationId: 'getExecApprovals',
  summary: 'Read what agents may run',
  description: 'Where nothing is stored the document is empty, and commands are left to policy.',
  method: 'get',
  path: '/v1/exec-approvals',
  roles: ['operator'],
  success,
  problems: [],
  handle: async ({ deps, caller }) => ({
    body: toWireExecApprovals(await getExecApprovals(deps, caller, null)),
  }),
});

export const putExecApprovalsRoute = defineRoute({
  operationId: 'putExecApprovals',
  summary: 'Replace what agents may run',
  description:
    'Usage stays with entries that keep their `id`. With `base_hash` nothing is replaced that another operator, or an approval with scope `allowlist`, has changed meanwhile.',
  method: 'put',
  path: '/v1/exec-approvals',
  roles: ['operator'],
  body: putExecApprovalsBody,
  success,
  problems: ['base_hash_mismatch'],
  handle: async ({ deps, caller, body }) => {
    const input = { document: body.document, baseHash: body.base_hash };
    return { body: toWireExecApprovals(await putExecApprovals(deps, caller, null, input)) };
  },
});

const suggestionsOutput = z
  .strictObject({
    safe_binaries: z.array(z.string()).meta({
      description: 'patterns of binaries that only read input and write output, and are not listed yet',
    }),
    unused: z
      .array(
        z.strictObject({
          agent: z.string(),
          id: z.string(),
          pattern: z.string(),
          last_used_at: instant.nullable(),
          since: instant.meta({
            description: 'its last use, else when it was added as far as that is known',
          }),
        }),
      )
      .meta({ description: 'entries by which nothing ran for 90 days, the longest unused first' }),
  })
  .meta({ id: 'ExecApprovalsSuggestions' });

export const suggestExecApprovalsRoute = defineRoute({
  operationId: 'suggestExecApprovals',
  summary: 'Read what could be added to exec approvals, and taken out',
  method: 'get',
  path: '/v1/exec-approvals/suggestions',
  roles: ['operator'],
  success: { status: 200, description: 'suggestions; nothing is changed', schema: suggestionsOutput },
  problems: [],
  handle: async ({ deps, caller }) => {
    const { safeBinaries, unused } = await suggestExecApprovals(deps, caller);
    const body: z.input<typeof suggestionsOutput> = {
      safe_binaries: safeBinaries,
      unused: unused.map(({ agent, entry: { id, pattern, last_used_at }, since }) => ({
        agent,
        id,
        pattern,
        last_used_at: last_used_at ?? null,
        since: since.toISOString(),
      })),
    };
    return { body };
  },
});
