import { notFound } from '../../core/common_faults.ts';
import { parseId } from '../../core/ids.ts';

/** The UUID in a webhook's id. @throws Fault `not_found` for any other text. */
export function parseWebhookId(id: string): string {
  const uuid = parseId('webhook', id);
  if (uuid === undefined) throw notFound();
  return uuid;
}
