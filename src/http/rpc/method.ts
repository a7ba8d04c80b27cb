import type * as z from 'zod';
import type { Caller, Role } from '../../core/caller.ts';
import type { Deps } from '../../operations/deps.ts';
import type { ConnectionAsks } from './connection_asks.ts';

/** What a method gets: its caller as looked up for this very request, and its params as checked. */
export interface RpcCall<Params> {
  deps: Deps;
  caller: Caller;
  params: Params;
  asks: ConnectionAsks;
  /** Aborts when the connection ends. */
  signal: AbortSignal;
}

/** One method: all that a connection needs to know of it. */
export interface RpcMethod<Params = never> {
  name: string;
  summary: string;
  /** Who may call; a caller needs one of them. */
  roles: readonly Role[];
  params: z.ZodType<Params>;
  /** Whether calling it makes its connection one that asked. */
  asks?: true;
  run(call: RpcCall<Params>): Promise<unknown>;
}

/** A method of any params, for lists. */
export type AnyRpcMethod = Omit<RpcMethod, 'params' | 'run'> & {
  params: z.ZodType;
  run(call: RpcCall<never>): Promise<unknown>;
};

/** Types a method by its schema. */
export function defineMethod<Params>(method: RpcMethod<Params>): AnyRpcMethod {
  return method;
}
