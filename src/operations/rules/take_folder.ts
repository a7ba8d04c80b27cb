import { NOTHING_OF_ITS_OWN, type RulesProblem } from '../../core/rules.ts';
import type { Deps } from '../deps.ts';
import { computeBaseDigest } from './base_digest.ts';

/** Why a policy folder is read. */
export type FolderEvent =
  | { kind: 'start' }
  /** Somebody wants just this folder in force. */
  | { kind: 'asked' }
  /**
   * Its files changed; `former` is the digest of its rules as they were read last. Whoever changes it may not be done:
   * `pause` ends when what they were at should be.
   */
  | { kind: 'changed'; former: string | undefined; pause: () => Promise<void> };

/** What a policy folder was found to be; `digest` is that of its rules. */
export type FolderOutcome =
  /** In force now, or was already; `dropped` are the ids of policies that were in force before and are no longer. */
  | { kind: 'in_force'; digest: string; dropped: string[] }
  /** The rules are those that were read last, so nothing was asked of anybody. */
  | { kind: 'unchanged'; digest: string }
  /** In force before, and followed by others since: the database's stay. */
  | { kind: 'superseded'; digest: string }
  /** Still being changed: to be looked at again. */
  | { kind: 'unsettled' }
  | { kind: 'refused'; problems: RulesProblem[] };

/**
 * Puts the rules of a policy folder in force, as the base of every tenant; `bringUpToDate` is what follows. A folder
 * that does not compile by itself changes nothing. Nor does one, at a start, whose rules were in force before and are
 * no longer: a process that starts with an old folder must not take back what was activated since. Nor does one that
 * changes and is not the same twice: half of a copy may lack just the file with the forbids.
 * @throws what `pause` throws, and the file system's own error when the folder cannot be read; Fault `unavailable`.
 */
export async function takeFolder(
  deps: Pick<Deps, 'compiler' | 'revisions'>,
  directory: string,
  event: FolderEvent,
): Promise<FolderOutcome> {
  const { compiler, revisions } = deps;
  const reading = await compiler.readFolder(directory);
  if (reading.kind === 'refused') return reading;
  const { base } = reading;
  const digest = computeBaseDigest(base);
  if (event.kind === 'changed' && event.former === digest) return { kind: 'unchanged', digest };
  const inForce = await revisions.findBase();
  if (inForce?.digest === digest) return { kind: 'in_force', digest, dropped: [] };
  if (event.kind === 'start' && (await revisions.wasBase(digest))) return { kind: 'superseded', digest };
  const compiled = await compiler.compile({ ...NOTHING_OF_ITS_OWN, base });
  if (compiled.kind === 'refused') return compiled;
  if (event.kind === 'changed' && !(await isSettled(compiler, directory, digest, event.pause))) {
    return { kind: 'unsettled' };
  }
  await revisions.setBase(digest, base);
  const former = Object.keys(inForce?.rules.policies ?? {});
  return { kind: 'in_force', digest, dropped: former.filter((id) => !Object.hasOwn(base.policies, id)) };
}

/** Whether a folder still has the rules it had before a pause. */
async function isSettled(
  compiler: Deps['compiler'],
  directory: string,
  digest: string,
  pause: () => Promise<void>,
): Promise<boolean> {
  await pause();
  const again = await compiler.readFolder(directory);
  return again.kind === 'read' && computeBaseDigest(again.base) === digest;
}
