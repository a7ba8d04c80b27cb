import type { CommandCall } from '../../core/command_call.ts';
import { type CommandAnalysis, listSegments } from '../command/analysis.ts';
import { listScriptFiles } from '../command/script_files.ts';

/**
 * Whether what would run depends on the action alone, as far as its text says: no variable is set that could point a
 * command elsewhere, and every script file that it names has its digest in `file_digests`. What depends on more is
 * never allowed by a list and approved for one run only.
 */
export function bindsWhatRuns({ env, fileDigests }: CommandCall, analysis: CommandAnalysis): boolean {
  const assignsNothing = listSegments(analysis.segments).every(({ assignments }) => assignments.length === 0);
  const isBound = ({ value }: { value: string | null }): boolean =>
    value !== null && Object.hasOwn(fileDigests, value);
  return Object.keys(env).length === 0 && assignsNothing && listScriptFiles(analysis).every(isBound);
}
