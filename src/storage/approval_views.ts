import type { ApprovalStore } from '../core/approval_ports.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import { approvalViews } from './event_schema.ts';

/** Showings that this process remembers to have written, so that who looks again and again writes once. */
const REMEMBERED_MAX = 10_000;

/** Notes who was shown which approval; see `ApprovalStore.recordShown`. */
export function createApprovalViews({
  db,
  sql,
}: Database): Pick<ApprovalStore, 'recordShown' | 'countPending'> {
  const written = new Set<string>();
  return {
    recordShown: async (tenantId, approvalId, principal) => {
      const subject = `${tenantId}/${approvalId}/${principal}`;
      if (written.has(subject)) return;
      await guarded(() =>
        db.insert(approvalViews).values({ tenantId, approvalId, principal }).onConflictDoNothing(),
      );
      if (written.size >= REMEMBERED_MAX) written.clear();
      written.add(subject);
    },
    countPending: async () => {
      const [row] = await guarded(
        async () => sql<{ pending: number }[]>`
          select count(*)::int as pending from tenants t join approvals a on a.tenant_id = t.tenant_id
          where a.status = 'pending' and a.expires_at > clock_timestamp()
            and (a.asker_lease_until is null or a.asker_lease_until > clock_timestamp())`,
      );
      return row?.pending ?? 0;
    },
  };
}
