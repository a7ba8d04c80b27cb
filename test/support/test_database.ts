import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { inject } from 'vitest';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A new, empty database on the run's server. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl');
  const name = `aegis_test_${randomBytes(6).toString('hex')}`;
  const sql = postgres(serverUrl, { max: 1, onnotice: () => undefined });
  await sql.unsafe(`create database ${name}`);
  await sql.end();
  return {
    url: serverUrl.replace(/\/[^/]*$/, `/${name}`),
    drop: async () => {
      const admin = postgres(serverUrl, { max: 1, onnotice: () => undefined });
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}
