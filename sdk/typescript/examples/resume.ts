import { type Aegis, type PendingApproval, PendingError } from '../src/index.ts';

/** The same in both processes: the tool, the action and the resource are what `resume` compares. */
export function guardWrite(aegis: Aegis) {
  return aegis.protect(
    { tool: 'files', action: 'write', mutatesState: true, context: { source_trust: 'trusted_internal' } },
    async (parameters: { path: string; content: string }) => {
      // Here the file is written.
      return `${parameters.path}: ${parameters.content.length} characters`;
    },
  );
}

/** Asks, waits a moment for a person, and otherwise gives back what to store, for instance in a database. */
export async function start(aegis: Aegis, path: string, content: string): Promise<string | PendingApproval> {
  try {
    return await guardWrite(aegis)({ path, content }, { waitMs: 1_000 });
  } catch (error) {
    if (error instanceof PendingError) {
      return error.toJSON();
    }
    throw error;
  }
}

/** Later, in any process: waits for the decision, and runs what was approved. */
export function finish(aegis: Aegis, stored: PendingApproval): Promise<string> {
  return guardWrite(aegis).resume(stored, { waitMs: 10 * 60_000 });
}
