import type { CommandGroup } from '../command.ts';
import { exportExecApprovals } from './export.ts';
import { importExecApprovals } from './import.ts';

/** `aegis exec-approvals …` */
export const EXEC_APPROVALS_COMMANDS: CommandGroup = {
  name: 'exec-approvals',
  commands: { import: importExecApprovals, export: exportExecApprovals },
};
