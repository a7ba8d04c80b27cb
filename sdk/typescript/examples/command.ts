import { protectCommand } from '../src/command/index.ts';
import { type Aegis, AegisError } from '../src/index.ts';

/** A tool that runs commands in one folder: what goes back to the model is what they wrote, or why they did not run. */
export function commandTool(aegis: Aegis, cwd: string): (argv: string[]) => Promise<string> {
  const run = protectCommand(aegis, { cwd, context: { source_trust: 'trusted_internal' } });
  return async (argv) => {
    try {
      const { exitCode, signal, stdout, stderr } = await run({ argv });
      return `${stdout.text}${stderr.text}[${signal === null ? `exit status ${exitCode}` : `ended by ${signal}`}]`;
    } catch (error) {
      if (error instanceof AegisError) {
        return error.forModel;
      }
      throw error;
    }
  };
}
