import { readArguments } from '../arguments.ts';
import type { Command } from '../command.ts';
import { printDecided } from './approve.ts';
import { approvalPath, connect, readReason, readViewHash } from './common.ts';
import type { Surroundings } from './surroundings.ts';

const USAGE = 'aegis approvals reject ID [--reason TEXT] [--view-hash HASH] [--json]';

const OPTIONS = {
  reason: { type: 'string' },
  'view-hash': { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** `aegis approvals reject`: a no needs to have seen nothing. */
export function rejectCommand(surroundings: Surroundings): Command {
  return {
    usage: USAGE,
    summary: 'ends a pending approval with a no; the agent is told the reason',
    run: async (args, terminal) => {
      const { values, positionals } = readArguments(args, OPTIONS, USAGE, { min: 1, max: 1 });
      const path = approvalPath(positionals[0]);
      const viewHash = readViewHash(values['view-hash']);
      const body = {
        ...readReason(values.reason),
        ...(viewHash !== undefined && { view_hash: viewHash }),
      };
      const answer = await connect(surroundings.env, terminal).vote(`${path}/reject`, body);
      printDecided(answer, values.json === true, terminal);
      return 0;
    },
  };
}
