import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { CommandInput, CommandSpec, GuardedCommand } from '../src/command/index.ts';
import { protectCommand } from '../src/command/index.ts';
import type { CallOptions, DefaultOptions, OutcomeInput } from '../src/index.ts';
import { type Answer, authorizeAnswer, clientOf, type Peer, startPeer } from './peer.ts';

/** A folder of harmless commands on a `PATH` of its own, and a peer to ask before they run. */
export interface Bench {
  /** A folder without symbolic links in its path. */
  folder: string;
  /** The first and the second folder of `PATH`; both are empty. */
  first: string;
  second: string;
  peer: Peer;
  path(name: string): string;
  /** Writes a file below the folder; `mode` 0o755 makes it executable. */
  write(name: string, text: string, mode?: number): string;
  exists(name: string): boolean;
  read(name: string): string;
  guard(spec?: CommandSpec, options?: DefaultOptions): GuardedCommand;
  run(input: CommandInput, spec?: CommandSpec, options?: CallOptions): ReturnType<GuardedCommand>;
  /** What was asked for. */
  asked(): Record<string, unknown>;
  outcomes(): OutcomeInput[];
  close(): Promise<void>;
}

export async function openBench(answer: Answer = () => undefined): Promise<Bench> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'aegis-command-')));
  const path = (name: string) => join(folder, name);
  const [first, second] = [path('first'), path('second')];
  mkdirSync(first);
  mkdirSync(second);
  vi.stubEnv('PATH', `${first}:${second}:/usr/bin:/bin`);
  const peer = await startPeer(answer);
  const guard: Bench['guard'] = (spec = {}, options) =>
    protectCommand(clientOf(peer), { cwd: folder, ...spec }, options);
  return {
    folder,
    first,
    second,
    peer,
    path,
    write: (name, text, mode = 0o644) => {
      writeFileSync(path(name), text);
      chmodSync(path(name), mode);
      return path(name);
    },
    exists: (name) => existsSync(path(name)),
    read: (name) => readFileSync(path(name), 'utf8'),
    guard,
    run: (input, spec, options) => guard(spec)(input, options),
    asked: () => peer.asked.parameters,
    outcomes: () => peer.to('/outcome').map(({ body }) => body as unknown as OutcomeInput),
    close: async () => {
      vi.unstubAllEnvs();
      await peer.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Policy allows the call without a person. */
export const allowed: Answer = ({ path }, self) =>
  path === '/v1/authorize'
    ? { body: authorizeAnswer(self, { decision: 'allow', approval: null }) }
    : undefined;

/** Does something once the call was asked for, before it is decided. */
export function meanwhile(act: () => void): Answer {
  return ({ method }) => {
    if (method === 'GET') act();
    return undefined;
  };
}

/** Does something after the approval was looked at, as it is consumed. */
export function asConsumed(act: () => void): Answer {
  return ({ path }) => {
    if (path.endsWith('/consume')) act();
    return undefined;
  };
}

/** Waits for a condition; how long it takes does not matter. */
export async function until(holds: () => boolean): Promise<void> {
  await vi.waitFor(
    () => {
      if (!holds()) throw new Error('not yet');
    },
    { timeout: 20_000, interval: 10 },
  );
}

/** Whether a process is there and no zombie. */
export function isRunning(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .startsWith('Z');
  } catch {
    return false;
  }
}
