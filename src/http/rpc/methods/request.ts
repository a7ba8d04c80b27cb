import * as z from 'zod';
import type { Approval } from '../../../core/approval.ts';
import { formatId, parseId } from '../../../core/ids.ts';
import { guardAttempts } from '../../../operations/attempts.ts';
import type { AuthorizeAnswer } from '../../../operations/authorize.ts';
import { waitForApproval } from '../../../operations/get_approval.ts';
import { type CommandRequest, requestCommand } from '../../../operations/rpc/request_command.ts';
import { sessionName } from '../../schemas/common.ts';
import { toAskerAnswer } from '../command_view.ts';
import { defineMethod, type RpcCall } from '../method.ts';

const DEFAULT_TIMEOUT_MS = 120_000;
const TIMEOUT_MAX_MS = 86_400_000;
/** How much longer than an ask's own time its end is waited for, when it cannot be ended on the spot. */
const GRACE_SECONDS = 5;
const MS_PER_SECOND = 1_000;
const SESSION_KEY_MAX = 256;

/** A member that may be absent or null, which is the same. */
function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

const params = z.strictObject({
  command: z.string().min(1),
  command_argv: optional(z.array(z.string())),
  cwd: optional(z.string()),
  env: optional(z.record(z.string(), z.string())),
  resolved_paths: optional(z.array(z.string())),
  session_key: optional(sessionName(SESSION_KEY_MAX)),
  timeout_ms: optional(z.int().min(1).max(TIMEOUT_MAX_MS)),
  two_phase: optional(z.boolean()),
  detached: optional(z.boolean()),
});

type Params = z.output<typeof params>;
type Call = RpcCall<Params>;

function toRequest(sent: Params): CommandRequest {
  return {
    command: sent.command,
    argv: sent.command_argv,
    cwd: sent.cwd,
    env: sent.env,
    resolvedPaths: sent.resolved_paths,
    sessionId: sent.session_key,
  };
}

/** What was decided without a person. */
function toImmediate(answer: AuthorizeAnswer): object {
  return {
    id: formatId('decision', answer.decisionId),
    decision: answer.decision === 'allow' ? 'allow_once' : 'deny',
    reason: answer.reason,
    determining_policies: answer.determiningPolicies,
    grant_id: answer.grantId === null ? null : formatId('grant', answer.grantId),
    ...(answer.denial !== null && { denial: answer.denial }),
  };
}

/** Waits for a person until `waitMs` are over or the connection ends. */
async function awaitDecision(
  { deps, caller, asks, signal }: Pick<Call, 'deps' | 'caller' | 'asks' | 'signal'>,
  id: string,
  waitMs: number,
): Promise<Approval> {
  const waitSeconds = waitMs / MS_PER_SECOND;
  const approval = await waitForApproval(deps, caller, id, { waitSeconds, knownVersion: undefined, signal });
  if (approval.status !== 'pending') asks.release(approval.approvalId);
  return approval;
}

export const requestMethod = defineMethod({
  name: 'exec.approval.request',
  summary: 'Ask for a command, and wait for the decision or, with `two_phase`, only for it to be asked',
  roles: ['agent'],
  params,
  asks: true,
  run: async (call: Call) => {
    const { deps, caller, asks, params: sent } = call;
    const isDetached = sent.detached === true;
    const timeoutMs = sent.timeout_ms ?? DEFAULT_TIMEOUT_MS;
    const connectionId = isDetached ? null : asks.asker.connectionId;
    const request = toRequest(sent);
    const answer = await asks.inTurn(() => requestCommand(deps, caller, request, connectionId));
    if (answer.approval === null) return toImmediate(answer);
    const { approvalId, expiresAt } = answer.approval;
    const id = formatId('approval', approvalId);
    const endsAt = Date.now() + timeoutMs;
    if (!isDetached) asks.hold(approvalId, timeoutMs);
    if (sent.two_phase === true) {
      const expiresAtMs = Date.parse(expiresAt);
      return {
        status: 'accepted',
        id,
        expires_at_ms: isDetached ? expiresAtMs : Math.min(expiresAtMs, endsAt),
      };
    }
    const waitMs = isDetached ? timeoutMs : timeoutMs + GRACE_SECONDS * MS_PER_SECOND;
    return toAskerAnswer(await awaitDecision(call, id, waitMs));
  },
});

const waitParams = z.strictObject({ id: z.string().max(SESSION_KEY_MAX) });

export const waitDecisionMethod = defineMethod({
  name: 'exec.approval.waitDecision',
  summary: 'Wait for the decision on what was asked for before, here or elsewhere',
  roles: ['agent'],
  params: waitParams,
  run: async (call: RpcCall<z.output<typeof waitParams>>) => {
    const { deps, caller, asks, params: sent } = call;
    const approvalId = parseId('approval', sent.id);
    // What this connection holds ends in time by itself.
    const isHeld = approvalId !== undefined && asks.has(approvalId);
    const waitMs = isHeld ? TIMEOUT_MAX_MS : DEFAULT_TIMEOUT_MS;
    const wait = (): Promise<Approval> => awaitDecision(call, sent.id, waitMs);
    return toAskerAnswer(await guardAttempts(deps, caller, sent.id, wait));
  },
});
