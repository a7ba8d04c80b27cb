import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { loadConfig } from '../../src/cli/config.ts';
import type { FirstTokens } from '../../src/cli/first_keys.ts';
import { startService } from '../../src/cli/service.ts';
import type { ServiceLog } from '../../src/cli/service_log.ts';
import type { WebhookTrials } from '../../src/cli/webhooks.ts';
import { ApiClient } from './api_client.ts';
import { createTestDatabase } from './test_database.ts';

export interface TestService {
  url: string;
  databaseUrl: string;
  /** The first keys' tokens. */
  tokens: FirstTokens;
  /** Clients of the first keys; their answers are checked against the served OpenAPI document. */
  agent: ApiClient;
  approver: ApiClient;
  approver2: ApiClient;
  operator: ApiClient;
  /** Without a credential. */
  anonymous: ApiClient;
  /** A client with another token. */
  as(token: string): ApiClient;
  /** Direct access to the database, to arrange what no call can, and to look behind answers. */
  sql: postgres.Sql;
  /** What was logged at warn and above. */
  logged: { level: 'warn' | 'error'; fields: object; message: string }[];
  /** Every statement the service sent. */
  statements: string[];
  close(): Promise<void>;
}

/** Starts a whole service on a database of its own, or on one given, with `env` as its environment. */
export async function startTestService(
  options: { env?: Record<string, string>; databaseUrl?: string; webhooks?: WebhookTrials } = {},
): Promise<TestService> {
  const dataDir = mkdtempSync(join(tmpdir(), 'aegis-service-'));
  const database =
    options.databaseUrl === undefined
      ? await createTestDatabase()
      : { url: options.databaseUrl, drop: async () => undefined };
  const logged: TestService['logged'] = [];
  const log: ServiceLog = {
    info: () => undefined,
    warn: (fields, message) => logged.push({ level: 'warn', fields, message }),
    error: (fields, message) => logged.push({ level: 'error', fields, message }),
  };
  const statements: string[] = [];
  const config = loadConfig({
    PORT: '0',
    DATABASE_URL: database.url,
    AEGIS_DATA_DIR: dataDir,
    ...options.env,
  });
  const service = await startService({
    config,
    log,
    onStatement: (text) => statements.push(text),
    ...(options.webhooks && { webhooks: options.webhooks }),
  });
  const tokens = service.firstKeys?.tokens ?? { AGENT: '', APPROVER: '', APPROVER2: '', OPERATOR: '' };
  const sql = postgres(database.url, { max: 4, onnotice: () => undefined });
  const as = (token: string | undefined) => new ApiClient(service.url, token);
  return {
    url: service.url,
    databaseUrl: database.url,
    tokens,
    agent: as(tokens.AGENT),
    approver: as(tokens.APPROVER),
    approver2: as(tokens.APPROVER2),
    operator: as(tokens.OPERATOR),
    anonymous: as(undefined),
    as,
    sql,
    logged,
    statements,
    close: async () => {
      await sql.end();
      await service.close();
      await database.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
