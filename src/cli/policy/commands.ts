import type { CommandGroup } from '../command.ts';
import { diff } from './diff.ts';
import { explain } from './explain.ts';
import { fmt } from './fmt.ts';
import { simulate } from './simulate.ts';
import { test } from './test.ts';
import { validate } from './validate.ts';

/** `aegis policy …`: for people who write policies. DIR is AEGIS_POLICY_DIR, or `policies`, unless given. */
export const POLICY_COMMANDS: CommandGroup = {
  name: 'policy',
  commands: { validate, test, explain, diff, simulate, fmt },
};
