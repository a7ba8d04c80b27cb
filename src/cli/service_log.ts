import type { Log } from '../http/log.ts';

/** The service's log; pino's logger has it. */
export interface ServiceLog extends Log {
  info(fields: object, message: string): void;
}
