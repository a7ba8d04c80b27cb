import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { FirstTokens } from '../../src/cli/first_keys.ts';
import { ApiClient } from './api_client.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const READY = /^Aegis is ready at (http:\S+) /;
const FIRST_KEYS = /^first keys: (.+)$/;

export interface ServiceProcess {
  url: string;
  /** Empty when the database had keys before. */
  tokens: FirstTokens | undefined;
  as(token: string | undefined): ApiClient;
  /** Sends a signal that does not end the process. */
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal and waits until the process is gone. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** What of this process's environment a service may see; never a setting of its own. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, ...(TMPDIR !== undefined && { TMPDIR }) };
}

/** Reads the output up to the ready line. @throws Error with all that was said when the process ends before. */
async function readUntilReady(child: ChildProcess): Promise<Pick<ServiceProcess, 'url' | 'tokens'>> {
  const said: string[] = [];
  child.stderr?.on('data', (bytes: Buffer) => said.push(bytes.toString()));
  if (child.stdout === null) throw new TypeError('the output is not piped');
  let tokens: FirstTokens | undefined;
  for await (const line of createInterface(child.stdout)) {
    said.push(line);
    const path = FIRST_KEYS.exec(line)?.[1];
    if (path !== undefined) tokens = JSON.parse(readFileSync(path, 'utf8')) as FirstTokens;
    const url = READY.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return { url, tokens };
  }
  throw new Error(`the service did not start: ${said.join('\n')}`);
}

/** Starts `aegis serve` as a process of its own, on a free port, and waits until it is ready. */
export async function startServiceProcess(env: Record<string, string>): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [join(ROOT, 'dist/aegis.js'), 'serve'], {
    cwd: ROOT,
    env: { ...cleanEnvironment(), PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const { url, tokens } = await readUntilReady(child);
  return {
    url,
    tokens,
    as: (token) => new ApiClient(url, token),
    signal: (signal) => child.kill(signal),
    end: async (signal) => {
      child.kill(signal);
      await exited;
    },
  };
}

/** A new folder, and how to be rid of it. */
export function makeFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'aegis-process-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
