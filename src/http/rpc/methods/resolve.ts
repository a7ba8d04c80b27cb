import * as z from 'zod';
import { notFound } from '../../../core/common_faults.ts';
import { Fault, type FaultCode } from '../../../core/fault.ts';
import { REASON_LENGTH_MAX } from '../../../core/vote_limits.ts';
import { guardAttempts } from '../../../operations/attempts.ts';
import { type Resolution, type Resolved, resolveCommand } from '../../../operations/rpc/resolve_command.ts';
import { prose, sha256 } from '../../schemas/common.ts';
import { defineMethod, type RpcCall } from '../method.ts';
import { RPC_CODES, RpcRefusal } from '../rpc_error.ts';

const ID_MAX = 256;
const NAME_MAX = 256;

/** What each decision wants; the names with dashes are those of other gateways. There is no yes for always. */
const WANTED = {
  allow_once: 'once',
  'allow-once': 'once',
  allow_session: 'session',
  'allow-session': 'session',
  allow_always: 'session',
  'allow-always': 'session',
  allowlist: 'allowlist',
  deny: null,
} as const;

const APPLIED = { once: 'allow_once', session: 'allow_session', allowlist: 'allowlist' } as const;

/** What tells of an approval no more than that it does not wait for this caller. */
const NOT_WAITING: ReadonlySet<FaultCode> = new Set([
  'not_found',
  'approval_already_decided',
  'approval_already_consumed',
  'approval_expired',
  'approval_voided',
]);

const params = z.strictObject({
  id: z.string().min(1).max(ID_MAX),
  decision: z.enum(Object.keys(WANTED) as [keyof typeof WANTED]),
  reason: prose(REASON_LENGTH_MAX).nullish(),
  action_hash: sha256.nullish(),
  resolved_by: z.string().max(NAME_MAX).nullish(),
});

type Params = z.output<typeof params>;

function toResolution({ decision, reason, action_hash }: Params): Resolution {
  const scope = WANTED[decision];
  const common = { reason: reason ?? undefined, actionHash: action_hash ?? undefined };
  return scope === null ? { ...common, decision: 'reject' } : { ...common, decision: 'approve', scope };
}

function assertNeverAsked({ asks }: RpcCall<Params>): void {
  if (!asks.hasAsked) return;
  throw new Fault(
    'self_approval_forbidden',
    'a connection that asked for a command resolves none. Open another for it',
  );
}

/** @throws RpcRefusal with one text for whatever does not wait for this caller, so that it tells nothing of it. */
function refuse(error: unknown, id: string): never {
  if (!(error instanceof Fault) || !NOT_WAITING.has(error.code)) throw error;
  const message = `approval not found or already resolved: ${id}`;
  throw new RpcRefusal(RPC_CODES.invalidParams, message, notFound());
}

export const resolveMethod = defineMethod({
  name: 'exec.approval.resolve',
  summary: 'Say yes or no to what waits, for exactly the bytes it has now',
  roles: ['approver'],
  params,
  run: async (call: RpcCall<Params>) => {
    assertNeverAsked(call);
    const { deps, caller, params: sent } = call;
    const run = (): Promise<Resolved> => resolveCommand(deps, caller, sent.id, toResolution(sent));
    const { approval, applied } = await guardAttempts(deps, caller, sent.id, run).catch((error: unknown) =>
      refuse(error, sent.id),
    );
    return { ok: true, applied: applied === null ? 'deny' : APPLIED[applied], status: approval.status };
  },
});
