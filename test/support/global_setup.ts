import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/storage/embedded/embedded_postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A server whose role may create databases; each test file makes one of its own. */
    serverUrl: string;
  }
}

/**
 * One PostgreSQL for the whole run: `TEST_DATABASE_URL`, or an embedded one. The service and the SDK are built once,
 * for the tests that start processes.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined) {
    project.provide('serverUrl', given);
    return async () => undefined;
  }
  const dataDir = mkdtempSync(join(tmpdir(), 'aegis-test-'));
  const embedded = await startEmbeddedPostgres({ dataDir });
  project.provide('serverUrl', embedded.databaseUrl);
  return async () => {
    await embedded.stop();
    rmSync(embedded.homeFolder, { recursive: true, force: true });
    rmSync(dataDir, { recursive: true, force: true });
  };
}
