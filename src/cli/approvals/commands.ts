import type { CommandGroup } from '../command.ts';
import { approveCommand } from './approve.ts';
import { listCommand } from './list.ts';
import { rejectCommand } from './reject.ts';
import { showCommand } from './show.ts';
import { SURROUNDINGS, type Surroundings } from './surroundings.ts';
import { watchCommand } from './watch.ts';

const NOTES = `They ask the service of AEGIS_URL (http://127.0.0.1:8080) with the key in AEGIS_KEY.
They end with
  0  done
  1  no, or not now: already decided, expired, another view or version, not eligible
  2  wrong use, a wrong address, or a key that may not
  3  the service cannot be reached, or is unavailable: try again`;

/** `aegis approvals …`: a client of the REST API, for a person at a terminal and for scripts. */
export function createApprovalsCommands(surroundings: Surroundings): CommandGroup {
  return {
    name: 'approvals',
    commands: {
      list: listCommand(surroundings),
      show: showCommand(surroundings),
      approve: approveCommand(surroundings),
      reject: rejectCommand(surroundings),
      watch: watchCommand(surroundings),
    },
    notes: NOTES,
  };
}

/** The same for this process. */
export const APPROVALS_COMMANDS: CommandGroup = createApprovalsCommands(SURROUNDINGS);
