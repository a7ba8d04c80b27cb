import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrateDatabase } from '../../src/storage/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../support/test_database.ts';
import { startTestService } from '../support/test_service.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DRIZZLE = join(ROOT, 'drizzle');

describe('an empty database', () => {
  let database: TestDatabase;
  let sql: postgres.Sql;

  beforeAll(async () => {
    database = await createTestDatabase();
    sql = postgres(database.url, { max: 1, onnotice: () => undefined });
  });
  afterAll(async () => {
    await sql.end();
    await database.drop();
  });

  /** Tables, columns, constraints and indexes, as text. */
  async function readCatalogue(): Promise<string[]> {
    const rows = await sql<{ line: string }[]>`
      select format('%s.%s %s %s', table_name, column_name, data_type, is_nullable) as line
      from information_schema.columns where table_schema = 'public'
      union all select conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
      where connamespace = 'public'::regnamespace
      union all select indexdef from pg_indexes where schemaname = 'public' order by 1`;
    return rows.map(({ line }) => line);
  }

  test('is migrated once by services that start on it at the same time, and one of them makes the keys', async () => {
    const services = await Promise.all([1, 2, 3].map(() => startTestService({ databaseUrl: database.url })));
    const ready = await Promise.all(services.map(({ anonymous }) => anonymous.get('/readyz')));
    expect(ready.map(({ status }) => status)).toStrictEqual([200, 200, 200]);
    expect(services.filter(({ tokens }) => tokens.AGENT !== '')).toHaveLength(1);
    const [counts] = await sql`
      select (select count(*)::int from schema_migrations) as migrations,
             (select count(*)::int from tenants) as tenants, (select count(*)::int from keys) as keys`;
    const files = readdirSync(DRIZZLE).filter((name) => name.endsWith('.sql'));
    expect(counts).toEqual({ migrations: files.length, tenants: 1, keys: 4 });
    for (const service of services) await service.close();
  }, 120_000);

  test('is left as it is by further migrations', async () => {
    const before = await readCatalogue();
    expect(before.length).toBeGreaterThan(50);
    await Promise.all([migrateDatabase(database.url, DRIZZLE), migrateDatabase(database.url, DRIZZLE)]);
    expect(await readCatalogue()).toStrictEqual(before);
  });
});

test('the migrations make what the schema says: nothing is left to generate', () => {
  const folder = mkdtempSync(join(tmpdir(), 'aegis-drizzle-'));
  try {
    cpSync(DRIZZLE, join(folder, 'drizzle'), { recursive: true });
    const before = readdirSync(folder, { recursive: true });
    const said = execFileSync(
      process.execPath,
      [
        join(ROOT, 'node_modules/drizzle-kit/bin.cjs'),
        'generate',
        '--dialect=postgresql',
        `--schema=${join(ROOT, 'src/storage/*schema.ts')}`,
        '--out=drizzle',
      ],
      { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    );
    expect(said).toMatch(/no schema changes/i);
    expect(readdirSync(folder, { recursive: true })).toStrictEqual(before);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the journal names each migration once, in order', () => {
  const journal = JSON.parse(readFileSync(join(DRIZZLE, 'meta/_journal.json'), 'utf8')) as {
    entries: { idx: number; tag: string; when: number }[];
  };
  const tags = journal.entries.map(({ tag }) => `${tag}.sql`);
  expect(tags).toStrictEqual(readdirSync(DRIZZLE).filter((name) => name.endsWith('.sql')));
  const times = journal.entries.map(({ when }) => when);
  expect(times).toStrictEqual(times.toSorted((left, right) => left - right));
});
