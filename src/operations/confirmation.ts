import type { Approval } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { Fault } from '../core/fault.ts';
import { parseToolCall } from '../core/parse_tool_call.ts';
import { maskerOf } from './masking.ts';
import { wordsFor } from './show_words.ts';

/** What an approver types before a yes to something that cannot be undone. */
export interface Confirmation {
  of: 'resource' | 'action';
  word: string;
}

/** A longer name is copied, not typed. */
const WORD_LENGTH_MAX = 128;

/**
 * What is to be typed for an approval, null where nothing is: for what the registry calls destructive the resource's
 * name, or the action's where there is none that could be typed. FAIL CLOSED: a row that does not say whether the
 * call destroys counts as one that does.
 */
export function findConfirmation(approval: Approval, caller: Caller): Confirmation | null {
  if (approval.reviewFacts?.destructive === false) return null;
  const { resource, action } = parseToolCall(approval.canonicalAction);
  const canBeTyped =
    resource !== null &&
    resource.trim() === resource &&
    resource.length <= WORD_LENGTH_MAX &&
    maskerOf(caller).maskText(resource) === resource &&
    wordsFor(caller).line(resource) === resource;
  return canBeTyped ? { of: 'resource', word: resource } : { of: 'action', word: action.trim() };
}

/** @throws Fault `invalid_request` unless what was typed is what is asked for. */
export function assertConfirmed(approval: Approval, caller: Caller, typed: string): void {
  const wanted = findConfirmation(approval, caller);
  if (wanted === null || typed.trim() === wanted.word) return;
  throw new Fault(
    'invalid_request',
    `this cannot be undone, so type the ${wanted.of}'s name, \`${wanted.word}\`, to approve it`,
    { issues: [{ pointer: '/confirm', reason: `is not the ${wanted.of}'s name` }] },
  );
}
