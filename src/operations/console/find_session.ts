import type { ConsoleSession } from '../../core/console_ports.ts';
import { sha256Hex } from '../../core/digest.ts';
import type { Deps } from '../deps.ts';

/** The session that a cookie's secret stands for, with its caller as of now; undefined unless both stand. */
export function findSession(deps: Deps, secret: string): Promise<ConsoleSession | undefined> {
  return deps.consoleSessions.find(sha256Hex(secret));
}
