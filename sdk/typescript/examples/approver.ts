import type { Aegis, Approval } from '../src/index.ts';

/** A person's side: look at the exact text that will run, then approve that text and no other. */
export async function decideAll(aegis: Aegis, looksRight: (text: string) => boolean): Promise<Approval[]> {
  const decided: Approval[] = [];
  for await (const approval of aegis.approvals({ status: 'pending' })) {
    const { approval_id, action_hash, canonical_action } = approval;
    decided.push(
      canonical_action !== null && looksRight(canonical_action)
        ? await aegis.approve(approval_id, { action_hash, reason: 'checked' })
        : await aegis.reject(approval_id, { reason: 'not what was agreed' }),
    );
  }
  return decided;
}
