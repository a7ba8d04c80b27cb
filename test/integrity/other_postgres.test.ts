import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findSystemPostgres, type SystemPostgres, startSystemPostgres } from '../support/system_postgres.ts';
import { walkThrough } from '../support/walk_through.ts';

// `DATABASE_URL` switches to any PostgreSQL from 14 on, and nothing else changes.

const folder = findSystemPostgres();
if (folder === undefined) {
  console.warn('SKIPPED: this machine has no postgres and initdb of version 14 or newer');
}

describe.skipIf(folder === undefined)('a PostgreSQL of this machine, over TCP and with a password', () => {
  let server: SystemPostgres;

  beforeAll(async () => {
    server = await startSystemPostgres(folder ?? '');
  });
  afterAll(() => server.stop());

  test('serves the whole walk-through', async () => {
    expect(Number.parseInt(server.version, 10)).toBeGreaterThanOrEqual(14);
    await walkThrough(server.url);
  });
});
