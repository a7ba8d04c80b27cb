import { type Scrubbed, scrub as scrubBytes } from '../analysis/secrets/scrub.ts';
import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';
import { maskerOf } from './masking.ts';

/** Told apart from the tenant's own key, which has no such character. */
const KEY_SUFFIX = '/scrub';

/**
 * Takes secrets out of a command's output. Nothing is stored. Its fingerprints are the tenant's, but not those that
 * approvals show: whoever may scrub could else try words by the thousand for one that a reader was shown the mask of.
 */
export async function scrub(_deps: Deps, caller: Caller, bytes: Uint8Array): Promise<Scrubbed> {
  return scrubBytes(bytes, maskerOf({ tenant: { maskKey: caller.tenant.maskKey + KEY_SUFFIX } }));
}
