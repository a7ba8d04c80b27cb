import type { Aegis } from '../index.ts';
import type { CapturedBytes } from './captured_output.ts';

/** What a command wrote to one stream, as it may be shown. */
export interface CommandOutput {
  /** As UTF-8, bytes that are none replaced by U+FFFD. Empty when blocked or withheld. */
  text: string;
  /**
   * What the service made of it: `clean` and `redacted` texts may be shown; `blocked` held something that is not
   * shown even in part; `withheld` could not be scrubbed; `raw` was not to be.
   */
  verdict: 'clean' | 'redacted' | 'blocked' | 'withheld' | 'raw';
  /** Whether the command wrote more than is kept. */
  truncated: boolean;
  /** Why it was withheld. */
  problem?: string;
  /** The bytes themselves, with `scrub: false` only. */
  bytes?: Uint8Array;
}

export function rawOutput({ bytes, truncated }: CapturedBytes): CommandOutput {
  return { text: decode(bytes), verdict: 'raw', truncated, bytes };
}

/** How a command ended. An exit status other than 0 is a result like any other. */
export interface CommandResult {
  /** Null when a signal ended it. */
  exitCode: number | null;
  signal: string | null;
  stdout: CommandOutput;
  stderr: CommandOutput;
}

/** Output with its secrets replaced by the service; none when that fails (FAIL CLOSED). Never rejects. */
export async function scrubbedOutput(
  aegis: Aegis,
  { bytes, truncated }: CapturedBytes,
): Promise<CommandOutput> {
  if (bytes.length === 0) {
    return { text: '', verdict: 'clean', truncated };
  }
  try {
    const scrubbed = await aegis.scrub(bytes);
    return { text: decode(scrubbed.bytes), verdict: scrubbed.verdict, truncated };
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'the output could not be scrubbed';
    return { text: '', verdict: 'withheld', truncated, problem };
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
