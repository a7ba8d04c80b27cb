import { setMaxListeners } from 'node:events';
import { join, resolve } from 'node:path';
import { v7 as newUuid } from 'uuid';
import { createMasker } from '../analysis/secrets/masker.ts';
import { createApp } from '../http/app.ts';
import { createMetrics } from '../http/metrics.ts';
import { createRpcServer } from '../http/rpc/rpc_server.ts';
import { type ServeOptions, serveApp } from '../http/server.ts';
import type { Deps } from '../operations/deps.ts';
import { createEventFeeds } from '../operations/events/event_feeds.ts';
import { createPolicySource } from '../operations/policy_source.ts';
import { followActivations } from '../operations/rules/follow_activations.ts';
import { createPolicyCompiler } from '../policy/compiler.ts';
import { type Database, openDatabase } from '../storage/database.ts';
import { migrateDatabase } from '../storage/migrate.ts';
import { createSignalHub, type SignalHub } from '../storage/signals.ts';
import { createStore } from '../storage/store.ts';
import { createThrottle } from '../storage/throttle.ts';
import type { Config } from './config.ts';
import { openConsole } from './console.ts';
import { type OpenedDatabase, provideDatabase } from './database_location.ts';
import { explainDatabaseTrouble } from './database_trouble.ts';
import { startExpiries } from './expiries.ts';
import { type FirstTokens, makeBootstrapKey, makeFirstKeys } from './first_keys.ts';
import { startHousekeeping } from './housekeeping.ts';
import { maskLog } from './mask_log.ts';
import { findPackageRoot } from './package_root.ts';
import { type PolicyFolder, startPolicyFolder } from './policy_folder.ts';
import { createPublicUrl } from './public_url.ts';
import { createReadiness } from './readiness.ts';
import { newSecret } from './secrets.ts';
import type { ServiceLog } from './service_log.ts';
import { openSlackCallback, startSlack } from './slack.ts';
import { openWebhookTargets, startWebhooks, type WebhookTrials } from './webhooks.ts';

/** Connections to the database, beside the one that listens. */
export const POOL_MAX = 10;

/** The built file of the thread that compiles policies. */
const COMPILE_WORKER = 'dist/compile_worker.js';

export interface ServiceOptions {
  config: Config;
  log: ServiceLog;
  /** Sees every statement's text; for the tests of the TENANT WALL. */
  onStatement?: (text: string) => void;
  /** Stands in front of the app; for the benchmark's route to compare with. */
  aroundApp?: (app: ServeOptions['fetch']) => ServeOptions['fetch'];
  /** For the tests of webhooks. */
  webhooks?: WebhookTrials;
}

export interface Service {
  url: string;
  /** The keys made at the first start, and the file that holds them. */
  firstKeys: { tokens: FirstTokens; path: string } | undefined;
  /** Reads the policy folder again and puts it in force. What is wrong with it is logged, and told by `/readyz`. */
  reloadPolicies(): Promise<void>;
  close(): Promise<void>;
}

/** Undoes what was started, last first, whatever fails. */
class Teardown {
  readonly #steps: (() => Promise<void>)[] = [];

  add(step: () => Promise<void>): void {
    this.#steps.unshift(step);
  }

  async run(log: ServiceLog): Promise<void> {
    for (const step of this.#steps.splice(0)) {
      await step().catch((error: unknown) => log.error({ err: error }, 'a part did not stop cleanly'));
    }
  }
}

/** One for each that must not wait for the other. */
interface Compilers {
  /** What operators check and change. */
  ofRequests: Deps['compiler'];
  /** What decisions wait for: sets that are loaded, and the policy folder's. */
  ofService: Deps['compiler'];
}

function openCompilers(workerPath: string, teardown: Teardown): Compilers {
  const open = (): Deps['compiler'] => {
    const compiler = createPolicyCompiler({ workerPath });
    teardown.add(compiler.close);
    return compiler;
  };
  return { ofRequests: open(), ofService: open() };
}

function createDeps(
  config: Config,
  database: Database,
  compilers: Compilers,
  signals: SignalHub,
  metrics: Deps['metrics'],
): Omit<Deps, 'publicUrl' | 'webhookTargets'> {
  const store = createStore(database, signals);
  const now = (): Date => new Date();
  return {
    ...store,
    eventFeeds: createEventFeeds({ ...store, signals, now }),
    compiler: compilers.ofRequests,
    policy: createPolicySource(store.revisions, compilers.ofService),
    signals,
    metrics,
    throttle: createThrottle(database, {
      attemptLimit: config.approvalAttemptLimit,
      attemptWindowSeconds: config.approvalAttemptWindowSeconds,
      addressFailureLimitPerMinute: config.ipFailureLimitPerMinute,
    }),
    newUuid,
    newSecret,
    now,
    settings: {
      approvalTtlSeconds: config.approvalTtlSeconds,
      pendingLimit: config.pendingLimit,
      askLimitPerHour: config.askLimitPerHour,
      attemptLimit: config.approvalAttemptLimit,
      policyDrift: config.policyDrift,
      denialSeconds: config.denialSeconds,
    },
  };
}

/** Makes the keys a first start needs, or the one the configuration gives. */
async function makeKeys(
  { config, log }: ServiceOptions,
  database: Database,
  signals: SignalHub,
): Promise<Service['firstKeys']> {
  const maker = { newUuid, newSecret };
  if (config.bootstrapOperatorKey === undefined) return makeFirstKeys(database, maker, config.dataDir);
  const bootstrap = await makeBootstrapKey(database, maker, config.bootstrapOperatorKey);
  signals.publish(bootstrap.changed);
  if (bootstrap.state === 'revoked') {
    log.warn({}, 'the key in AEGIS_BOOTSTRAP_OPERATOR_KEY was revoked and stays revoked. Set another value');
  }
  if (bootstrap.state === 'suspended') {
    log.warn(
      {},
      'the principal of AEGIS_BOOTSTRAP_OPERATOR_KEY is disabled or frozen, so the key does not stand. Another operator lifts that',
    );
  }
  return undefined;
}

/** Opens the database, migrated. */
async function prepareDatabase(
  options: ServiceOptions,
  location: OpenedDatabase,
  migrationsFolder: string,
  teardown: Teardown,
): Promise<Database> {
  await migrateDatabase(location.directUrl, migrationsFolder, location.isPooled);
  const database = openDatabase({
    url: location.url,
    poolMax: POOL_MAX,
    isPooled: location.isPooled,
    onStatement: options.onStatement,
  });
  teardown.add(database.close);
  return database;
}

/** Makes the rules ready: those of the policy folder and of the database, and what others activate from now on. */
async function startRules(
  { config, log }: ServiceOptions,
  database: Database,
  deps: Deps,
  teardown: Teardown,
): Promise<PolicyFolder> {
  const directory = resolve(config.policyDir);
  const folder = await startPolicyFolder({ deps, database, directory, log });
  teardown.add(() => folder.close());
  const following = new AbortController();
  const followed = followActivations(
    deps,
    (error) => log.warn({ err: error }, 'the rules that others activated could not be loaded ahead'),
    following.signal,
  );
  teardown.add(async () => {
    following.abort();
    await followed;
  });
  return folder;
}

async function startParts(options: ServiceOptions, teardown: Teardown): Promise<Omit<Service, 'close'>> {
  const { config, log } = options;
  const root = findPackageRoot();
  const migrationsFolder = join(root, 'drizzle');
  const location = await provideDatabase(config, (line) => log.info({}, line));
  teardown.add(location.close);
  const database = await explainDatabaseTrouble(() =>
    prepareDatabase(options, location, migrationsFolder, teardown),
  );
  const signals = createSignalHub(database, location.directUrl);
  teardown.add(signals.close);
  teardown.add(startHousekeeping(database, log));
  const compilers = openCompilers(join(root, COMPILE_WORKER), teardown);
  const metrics = createMetrics(() => deps.approvals.countPending());
  const publicUrl = createPublicUrl(config);
  const webhookTargets = openWebhookTargets(options);
  const deps = { ...createDeps(config, database, compilers, signals, metrics), publicUrl, webhookTargets };
  const folder = await startRules(options, database, { ...deps, compiler: compilers.ofService }, teardown);
  teardown.add(startExpiries(deps, log));
  teardown.add(await startWebhooks(options, database, deps));
  const stopping = new AbortController();
  // Each open wait listens, and takes its listener away again: many are no leak to warn of.
  setMaxListeners(0, stopping.signal);
  const { trustedProxies } = config;
  const app = createApp({
    deps,
    trustedProxies,
    stopping: stopping.signal,
    log,
    onAnswer: metrics.onAnswer,
    readiness: createReadiness(database, deps.policy, folder, migrationsFolder),
    metricsText: metrics.text,
    metricsToken: config.metricsToken,
    slack: openSlackCallback(config, log),
    console: await openConsole(root, config, {
      ...{ deps, log, trustedProxies, publicUrl, newSecret, stopping: stopping.signal },
    }),
  });
  const fetch = options.aroundApp?.(app.fetch) ?? app.fetch;
  const upgrades = createRpcServer({ deps, log, trustedProxies, newConnectionId: newUuid });
  teardown.add(upgrades.close);
  const server = await serveApp({ fetch, upgrades, hostname: config.host, port: config.port, log });
  teardown.add(server.close);
  publicUrl.listensAt(Number(new URL(server.url).port));
  teardown.add(await startSlack({ deps, config, publicUrl, log, holder: newUuid() }));
  // Before the server, which would cut off whom this says goodbye to.
  teardown.add(upgrades.close);
  teardown.add(async () => stopping.abort());
  // Last: keys made by a start that then fails, for instance because the port is taken, would never be shown.
  const firstKeys = await makeKeys(options, database, signals);
  return { url: server.url, firstKeys, reloadPolicies: () => folder.reload() };
}

/**
 * Starts the whole service: database, migrations, policies, keys, HTTP. What was started is stopped again when a
 * later part fails.
 */
export async function startService(given: ServiceOptions): Promise<Service> {
  const options = { ...given, log: maskLog(given.log, createMasker(newSecret())) };
  const teardown = new Teardown();
  try {
    const parts = await startParts(options, teardown);
    return { ...parts, close: () => teardown.run(options.log) };
  } catch (error) {
    await teardown.run(options.log);
    throw error;
  }
}
