import type { Fault, FaultCode } from '../../core/fault.ts';
import { buildProblem } from '../problem.ts';

/** The codes of JSON-RPC 2.0 §5.1; `service` is of those left to the server. */
export const RPC_CODES = {
  unreadable: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  service: -32000,
} as const;

export type RpcCode = (typeof RPC_CODES)[keyof typeof RPC_CODES];

export interface RpcErrorObject {
  code: RpcCode;
  message: string;
  /** The problem that the same fault is over HTTP. */
  data: unknown;
}

/** What the caller sent is at fault: a member, an id that names nothing, a hash that is missing. */
const PARAMS_AT_FAULT: ReadonlySet<FaultCode> = new Set([
  'invalid_request',
  'not_found',
  'precondition_required',
]);

/** A fault with the code and text that the protocol has for it, where they are not those of every method. */
export class RpcRefusal extends Error {
  constructor(
    readonly code: RpcCode,
    message: string,
    readonly fault: Fault,
  ) {
    super(message);
    this.name = 'RpcRefusal';
  }
}

/** The code of a fault that a method ended in. */
function codeOf(fault: Fault): RpcCode {
  if (fault.code === 'internal_error') return RPC_CODES.internal;
  return PARAMS_AT_FAULT.has(fault.code) ? RPC_CODES.invalidParams : RPC_CODES.service;
}

/** An error as answered: the problem's own words, and the whole problem as `data`. */
export function toErrorObject(
  fault: Fault,
  requestId: string,
  { code, message }: { code: RpcCode; message?: string } = { code: codeOf(fault) },
): RpcErrorObject {
  const { body } = buildProblem(fault, { requestId });
  return { code, message: message ?? body.detail, data: body };
}
