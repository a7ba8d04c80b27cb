import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { destination, pino } from 'pino';
import { OperatorError } from '../core/operator_error.ts';
import { describeFirstKeys } from './announce_keys.ts';
import { loadConfig } from './config.ts';
import { FIRST_KEYS_FILE } from './first_keys.ts';
import { type Service, startService } from './service.ts';

const STDOUT = 1;
const FORCED_EXIT_MS = 15_000;

function announceKeys({ url, firstKeys }: Service, dataDir: string): void {
  if (firstKeys !== undefined) {
    console.log(describeFirstKeys(url, firstKeys, process.stdout.isTTY));
    return;
  }
  const path = join(dataDir, FIRST_KEYS_FILE);
  if (existsSync(path)) console.log(`first keys, made at an earlier start: ${path}`);
}

/**
 * Stops the service once, at the first signal; a second one is for who cannot wait. SIGHUP reads the policy folder
 * again, unless it comes because the terminal that the service was started in has gone.
 */
function obeySignals(service: Service): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    setTimeout(() => process.exit(1), FORCED_EXIT_MS).unref();
    void service.close().then(() => process.exit(0));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  const hadTerminal = isatty(STDOUT);
  process.on('SIGHUP', () => {
    if (hadTerminal && !isatty(STDOUT)) stop();
    else void service.reloadPolicies();
  });
}

/** `aegis serve`: runs until a signal. @throws ConfigError, OperatorError and what startService throws. */
export async function serve(): Promise<void> {
  const config = loadConfig(process.env);
  const log = pino({ level: 'info' }, destination(2));
  if (!existsSync(config.policyDir)) {
    throw new OperatorError(
      `there is no policy folder \`${config.policyDir}\`. Start in the project's folder, or set AEGIS_POLICY_DIR`,
    );
  }
  const service = await startService({ config, log });
  obeySignals(service);
  announceKeys(service, config.dataDir);
  console.log(
    `Aegis is ready at ${service.url} (console: ${service.url}/console, API page: ${service.url}/docs)`,
  );
}
