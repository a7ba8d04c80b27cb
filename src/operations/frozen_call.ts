import type { DecisionContext, ToolCall } from '../core/action.ts';
import type { CallStanding } from '../core/agent_ports.ts';
import type { Caller } from '../core/caller.ts';
import { canonicalAction } from '../core/canonical_action.ts';
import { sha256Hex } from '../core/digest.ts';
import { type ContextClaims, limitContext } from '../core/effective_context.ts';
import { Fault } from '../core/fault.ts';
import type { Deps } from './deps.ts';
import { maskWords } from './masking.ts';

/** What a call says of itself. */
export interface CallInput {
  toolCall: ToolCall;
  actionHash: string | undefined;
  context: ContextClaims;
}

/** A call frozen: its canonical text, the text's hash, and the circumstances as used. */
export interface FrozenCall {
  toolCall: ToolCall;
  canonicalAction: string;
  actionHash: string;
  context: DecisionContext;
  /** Whether the agent or its session is paused. */
  paused: boolean;
}

const NOTHING_KNOWN: CallStanding = {
  sessionTier: null,
  sessionPaused: false,
  parentRun: null,
  ownRun: null,
};

/** What stands behind a call; one that names no session and no run needs no read. */
async function readStanding(deps: Deps, caller: Caller, { context }: CallInput): Promise<CallStanding> {
  const sessionId = context.session_id ?? null;
  const run = { runId: context.run_id ?? null, parentRunId: context.parent_run_id ?? null };
  if (sessionId === null && run.runId === null && run.parentRunId === null) return NOTHING_KNOWN;
  return deps.sessions.readStanding(caller.tenantId, caller.principal, sessionId, run);
}

/** What a call says of itself, with its agent's words as they may be stored and shown. */
function maskClaims(caller: Caller, claims: ContextClaims): ContextClaims {
  const { justification } = claims;
  return justification == null ? claims : { ...claims, justification: maskWords(caller, justification) };
}

/**
 * Freezes a call with the circumstances it is decided under.
 * @throws Fault `action_hash_mismatch` when the hash sent is another; `forbidden` for a place outside the key's lists.
 */
export async function freezeCall(deps: Deps, caller: Caller, input: CallInput): Promise<FrozenCall> {
  const text = canonicalAction(input.toolCall);
  const actionHash = sha256Hex(text);
  if (input.actionHash !== undefined && input.actionHash !== actionHash) {
    throw new Fault(
      'action_hash_mismatch',
      'the hash sent is not the hash of the action sent. Compare `canonical_action` with the text you hashed',
      { members: { expected_action_hash: actionHash, canonical_action: text } },
    );
  }
  const standing = await readStanding(deps, caller, input);
  return {
    toolCall: input.toolCall,
    canonicalAction: text,
    actionHash,
    context: limitContext(maskClaims(caller, input.context), {
      key: caller.limits,
      tenantTier: caller.tenant.tier,
      standing,
      now: deps.now(),
    }),
    paused: caller.paused || standing.sessionPaused,
  };
}
