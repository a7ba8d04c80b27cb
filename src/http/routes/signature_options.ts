import * as z from 'zod';
import { Fault } from '../../core/fault.ts';
import { createSignatureOptions } from '../../operations/webauthn/signature_options.ts';
import { parseIfMatch } from '../request_headers.ts';
import { defineRoute } from '../route.ts';
import { instant, jsonObject } from '../schemas/common.ts';
import { readWidening, viewHash, wideningMembers } from '../schemas/vote.ts';

const body = z
  .strictObject({ decision: z.enum(['approve', 'reject']), view_hash: viewHash, ...wideningMembers })
  .meta({ id: 'SignatureOptionsRequest' });

/** @throws Fault `invalid_request` for a no that is to hold for more than one run. */
function assertGoTogether({ decision, scope }: z.output<typeof body>): void {
  if (decision === 'approve' || scope == null || scope === 'once') return;
  throw new Fault('invalid_request', 'a rejection has no scope. Leave it out', {
    issues: [{ pointer: '/scope', reason: 'goes with `approve` only' }],
  });
}

export const signatureOptionsRoute = defineRoute({
  operationId: 'createSignatureOptions',
  summary: 'Get what a passkey has to sign for a vote',
  description:
    'The challenge is the SHA-256 of `statement`, which names the vote and everything it is bound to. It is good for one vote, for five minutes, while the approval stays as it is; send what the passkey answers as `signature` with the same `scope`.',
  method: 'post',
  path: '/v1/approvals/:id/signature-options',
  roles: ['approver'],
  attempts: 'read first',
  headers: ['if-match'],
  body,
  success: {
    status: 200,
    description: 'options for `navigator.credentials.get`',
    schema: z
      .strictObject({
        options: jsonObject.meta({
          description: 'for `PublicKeyCredential.parseRequestOptionsFromJSON()`',
        }),
        statement: z.string(),
        expires_at: instant,
      })
      .meta({ id: 'SignatureOptions' }),
  },
  problems: [
    'approval_expired',
    'approval_already_decided',
    'approval_already_consumed',
    'approval_voided',
    'stale_version',
    'view_hash_mismatch',
    'policy_changed',
    'self_approval_forbidden',
    'approver_not_eligible',
    'scope_not_allowed',
  ],
  handle: async ({ deps, caller, id, body: sent, header }) => {
    assertGoTogether(sent);
    const { options, statement, expiresAt } = await createSignatureOptions(deps, caller, id, {
      ballot: { decision: sent.decision, ...readWidening(sent) },
      viewHash: sent.view_hash ?? undefined,
      ifMatch: parseIfMatch(header('if-match')),
    });
    return { body: { options, statement, expires_at: expiresAt.toISOString() } };
  },
});
