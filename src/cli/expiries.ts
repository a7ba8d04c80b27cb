import type { Deps } from '../operations/deps.ts';
import { tellExpiries } from '../operations/events/tell_expiries.ts';
import type { ServiceLog } from './service_log.ts';

/** Tells of expiries from now on; returns what stops it. */
export function startExpiries(deps: Deps, log: ServiceLog): () => Promise<void> {
  const stopping = new AbortController();
  const onTrouble = (error: unknown): void =>
    log.warn({ err: error }, 'expiries cannot be told now. They are once the database answers');
  const told = tellExpiries(deps, onTrouble, stopping.signal);
  return async () => {
    stopping.abort();
    await told;
  };
}
