import type { RulesProblem } from '../../core/rules.ts';
import type { Deps } from '../deps.ts';
import { computeBaseDigest } from './base_digest.ts';

/** Why a policy folder is read. */
export type FolderEvent =
  | { kind: 'start' }
  /** Somebody wants just this folder in force. */
  | { kind: 'asked' }
  /** Its files changed; `former` is the digest of its rules as they were read last. */
  | { kind: 'changed'; former: string | undefined };

/** What a policy folder was found to be; `digest` is that of its rules. */
export type FolderOutcome =
  /** In force now, or was already. */
  | { kind: 'in_force'; digest: string }
  /** The rules are those that were read last, so nothing was asked of anybody. */
  | { kind: 'unchanged'; digest: string }
  /** In force before, and followed by others since: the database's stay. */
  | { kind: 'superseded'; digest: string }
  | { kind: 'refused'; problems: RulesProblem[] };

/**
 * Puts the rules of a policy folder in force, as the base of every tenant; `bringUpToDate` is what follows. A folder
 * that does not compile by itself changes nothing. Nor does one, at a start, whose rules were in force before and are
 * no longer: a process that starts with an old folder must not take back what was activated since.
 * @throws the file system's own error when the folder cannot be read; Fault `unavailable`.
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
  if (inForce?.digest === digest) return { kind: 'in_force', digest };
  if (event.kind === 'start' && (await revisions.wasBase(digest))) return { kind: 'superseded', digest };
  const compiled = await compiler.compile({ base, policies: {}, tools: [], permissions: [] });
  if (compiled.kind === 'refused') return compiled;
  await revisions.setBase(digest, base);
  return { kind: 'in_force', digest };
}
