import { type Scrubbed, scrub as scrubBytes } from '../analysis/secrets/scrub.ts';
import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';
import { maskerOf } from './masking.ts';

/** Takes secrets out of a command's output, as the caller's tenant masks them. Nothing is stored. */
export async function scrub(_deps: Deps, caller: Caller, bytes: Uint8Array): Promise<Scrubbed> {
  return scrubBytes(bytes, maskerOf(caller));
}
