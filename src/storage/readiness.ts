import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';

export interface StorageReadiness {
  database: boolean;
  /** When the newest applied migration was made, as the journal has it; null when none was applied. */
  migratedTo: number | null;
  activeRevision: string | null;
}

/** What the database says of itself; never throws. */
export async function readReadiness(database: Database, tenantId: string): Promise<StorageReadiness> {
  try {
    const [row] = await guarded(
      async () => database.sql<{ migrated_to: string | null; active_revision: string | null }[]>`
        select (select max(created_at) from schema_migrations) as migrated_to,
               (select active_revision from tenants where tenant_id = ${tenantId}) as active_revision`,
    );
    return {
      database: true,
      migratedTo: row?.migrated_to == null ? null : Number(row.migrated_to),
      activeRevision: row?.active_revision ?? null,
    };
  } catch {
    return { database: false, migratedTo: null, activeRevision: null };
  }
}
