import type { Fault } from '../core/fault.ts';
import type { Log } from './log.ts';
import { statusOf } from './problem.ts';

const SERVER_ERROR = 500;

/** Logs what the client is not told, under the id that it is. */
export function logFault(log: Log, fault: Fault, requestId: string): void {
  if (statusOf(fault) < SERVER_ERROR) return;
  const fields = { err: fault.cause ?? fault, request_id: requestId, code: fault.code };
  if (fault.code === 'unavailable') log.warn(fields, 'a request could not be served now');
  else log.error(fields, 'a request failed');
}
