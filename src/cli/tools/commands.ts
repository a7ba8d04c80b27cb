import type { CommandGroup } from '../command.ts';
import { importTools } from './import.ts';

/** `aegis tools …` */
export const TOOLS_COMMANDS: CommandGroup = { name: 'tools', commands: { import: importTools } };
