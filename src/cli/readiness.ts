import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readiness } from '../http/routes/open.ts';
import type { Deps } from '../operations/deps.ts';
import type { Database } from '../storage/database.ts';
import { readReadiness } from '../storage/readiness.ts';
import { DEFAULT_TENANT } from './first_keys.ts';
import type { PolicyFolder } from './policy_folder.ts';

function newestMigration(folder: string): number {
  const journal = JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8')) as {
    entries: { when: number }[];
  };
  return Math.max(...journal.entries.map((entry) => entry.when));
}

/** Whether the set that decides for the first tenant is ready here. */
async function checkPolicy(policy: Deps['policy'], activeRevision: string | null): Promise<string> {
  if (activeRevision === null) return 'not known without the database';
  try {
    await policy.load(DEFAULT_TENANT, activeRevision);
    return 'ok';
  } catch {
    return 'the active revision cannot be loaded here. The log says why';
  }
}

/** Tells whether this process can decide, and what stands in the way. */
export function createReadiness(
  database: Database,
  policy: Deps['policy'],
  folder: PolicyFolder,
  migrationsFolder: string,
): () => Promise<Readiness> {
  const expected = newestMigration(migrationsFolder);
  let knownRevision = '';
  return async () => {
    // At once: a database that is silent is waited for once.
    const [storage, policyProblem] = await Promise.all([
      readReadiness(database, DEFAULT_TENANT),
      folder.problem(),
    ]);
    knownRevision = storage.activeRevision ?? knownRevision;
    const isMigrated = storage.migratedTo !== null && storage.migratedTo >= expected;
    return {
      policyRevision: knownRevision,
      policyProblem,
      checks: {
        database: storage.database ? 'ok' : 'not reachable',
        migrations: isMigrated ? 'ok' : 'not applied or not known',
        policy: await checkPolicy(policy, storage.activeRevision),
      },
    };
  };
}
