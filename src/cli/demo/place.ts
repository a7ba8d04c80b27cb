import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../core/operator_error.ts';
import { startEmbeddedPostgres } from '../../storage/embedded/embedded_postgres.ts';
import { parseServiceUrl } from '../approvals/access.ts';
import { loadConfig } from '../config.ts';
import { findPackageRoot } from '../package_root.ts';
import { startService } from '../service.ts';
import type { ServiceLog } from '../service_log.ts';

/** The service the demo plays against, and the keys of who plays. */
export interface Place {
  url: string;
  agentKey: string;
  approverKey: string;
  /** Of another group than the first approver. */
  approver2Key: string;
  close(): Promise<void>;
}

const SHORT_LIVED_ASKS = `
@id("demo-files-write-is-short-lived")
@decision("require_approval")
@ttl_seconds("2")
@reason("in this demo an approval to write a file lives for two seconds")
permit (principal is Aegis::Agent, action == Aegis::Action::"files.write", resource);
`;

const quiet: ServiceLog = {
  info: () => undefined,
  warn: () => undefined,
  error: (fields, message) => console.error(message, fields),
};

/**
 * A running service, if the environment names one: `AEGIS_URL`, `AGENT`, `APPROVER` and `APPROVER2`.
 * @throws OperatorError without all of them, or when nothing answers there.
 */
export async function findPlace(env: NodeJS.ProcessEnv): Promise<Place | undefined> {
  const { AEGIS_URL: given, AGENT: agentKey, APPROVER: approverKey, APPROVER2: approver2Key } = env;
  if (given === undefined) return undefined;
  const url = parseServiceUrl(given);
  if (agentKey === undefined || approverKey === undefined || approver2Key === undefined) {
    throw new OperatorError(
      'AEGIS_URL is set, but not all keys are. Set AGENT, APPROVER and APPROVER2 as well',
    );
  }
  const isThere = await fetch(`${url}/livez`).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isThere) {
    throw new OperatorError(
      `no service answers at ${url}. Start it with \`npm start\`, or leave AEGIS_URL out: the demo then starts one of its own`,
    );
  }
  return { url, agentKey, approverKey, approver2Key, close: async () => undefined };
}

/** The starter set with one policy more, under which an expiry can be watched; without cases, which know only the set. */
function copyPolicies(folder: string): string {
  const policyDir = join(folder, 'policies');
  const starterSet = join(findPackageRoot(), 'policies');
  const filter = (source: string): boolean => source !== join(starterSet, 'cases');
  cpSync(starterSet, policyDir, { recursive: true, filter });
  writeFileSync(join(policyDir, 'demo.cedar'), SHORT_LIVED_ASKS);
  return policyDir;
}

/** Starts a service of its own on a new embedded database; `close` leaves nothing behind. */
export async function makePlace(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'aegis-demo-'));
  const database = await startEmbeddedPostgres({ dataDir: folder });
  const config = loadConfig({
    PORT: '0',
    DATABASE_URL: database.databaseUrl,
    AEGIS_DATA_DIR: folder,
    AEGIS_POLICY_DIR: copyPolicies(folder),
  });
  const service = await startService({ config, log: quiet });
  if (service.firstKeys === undefined) throw new Error('a new database had keys');
  const { tokens } = service.firstKeys;
  return {
    url: service.url,
    agentKey: tokens.AGENT,
    approverKey: tokens.APPROVER,
    approver2Key: tokens.APPROVER2,
    close: async () => {
      await service.close();
      await database.stop();
      rmSync(database.homeFolder, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
