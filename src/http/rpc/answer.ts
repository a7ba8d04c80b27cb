import type { Caller } from '../../core/caller.ts';
import { agentFrozen } from '../../core/common_faults.ts';
import { Fault } from '../../core/fault.ts';
import type { Deps } from '../../operations/deps.ts';
import type { Log } from '../log.ts';
import { logFault } from '../log_fault.ts';
import { newRequestId } from '../request_id.ts';
import { toFault } from '../to_fault.ts';
import type { ConnectionAsks } from './connection_asks.ts';
import type { RpcId, RpcMessage, RpcRequest } from './json_rpc.ts';
import type { AnyRpcMethod } from './method.ts';
import { RPC_METHODS } from './methods/index.ts';
import { RPC_CODES, type RpcErrorObject, RpcRefusal, toErrorObject } from './rpc_error.ts';

/** What requests of one connection are answered with. */
export interface AnswerContext {
  deps: Deps;
  log: Log;
  /** Looks the credential up anew. @throws Fault `unauthenticated`, `throttled`, `unavailable`. */
  identify: () => Promise<Caller>;
  asks: ConnectionAsks;
  signal: AbortSignal;
}

export type RpcResponse = { jsonrpc: '2.0'; id: RpcId } & ({ result: unknown } | { error: RpcErrorObject });

const METHODS = new Map(RPC_METHODS.map((method) => [method.name, method]));

function unknownMethod(): RpcRefusal {
  const names = [...METHODS.keys()].map((name) => `\`${name}\``).join(', ');
  const fault = new Fault('not_found', '');
  return new RpcRefusal(
    RPC_CODES.unknownMethod,
    `there is no method of this name. Call one of ${names}`,
    fault,
  );
}

function assertRole(caller: Caller, { roles }: AnyRpcMethod): void {
  if (roles.some((role) => caller.roles.includes(role))) return;
  const needed = roles.map((role) => `\`${role}\``).join(' or ');
  throw new Fault('forbidden', `this needs a key with the role ${needed}`);
}

/** Runs a method in the order of checks of the wire contract: credential, standing, role, params. */
async function run(request: RpcRequest, { deps, identify, asks, signal }: AnswerContext): Promise<unknown> {
  const method = METHODS.get(request.method);
  if (method === undefined) throw unknownMethod();
  const caller = await identify();
  if (caller.frozen) throw agentFrozen();
  assertRole(caller, method);
  if (method.asks) asks.markAsked();
  const params = method.params.parse(request.params);
  return method.run({ deps, caller, params: params as never, asks, signal });
}

/** The error that something thrown is answered with; what the client is not told is logged. */
function toRpcError(log: Log, error: unknown): RpcErrorObject {
  const requestId = newRequestId();
  if (error instanceof RpcRefusal) {
    const { code, message, fault } = error;
    return toErrorObject(fault, requestId, { code, message });
  }
  const fault = toFault(error);
  logFault(log, fault, requestId);
  return toErrorObject(fault, requestId);
}

/** Answers a message; undefined for a notification, which is run all the same. Never rejects. */
export async function answerMessage(
  message: RpcMessage,
  context: AnswerContext,
): Promise<RpcResponse | undefined> {
  if (message.kind === 'invalid') {
    const error = toErrorObject(message.fault, newRequestId(), { code: RPC_CODES.invalidRequest });
    return { jsonrpc: '2.0', id: message.id, error };
  }
  const { id } = message.request;
  try {
    const result = await run(message.request, context);
    return id === undefined ? undefined : { jsonrpc: '2.0', id, result };
  } catch (error) {
    const answered = toRpcError(context.log, error);
    return id === undefined ? undefined : { jsonrpc: '2.0', id, error: answered };
  }
}
