import { Fault } from '../../core/fault.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { parseStrictJson } from '../../core/strict_json.ts';
import { toFault } from '../to_fault.ts';

// JSON-RPC 2.0 (https://www.jsonrpc.org/specification), as far as it is a matter of form.

/** An id as the client chose it; null also where it could not be read. */
export type RpcId = string | number | null;

export interface RpcRequest {
  /** Undefined for a notification, which has no answer. */
  id: RpcId | undefined;
  method: string;
  params: JsonValue;
}

/** What a frame holds; `fault` says why it, or a message of it, is no request. */
export type RpcMessage =
  | { kind: 'request'; request: RpcRequest }
  | { kind: 'invalid'; id: RpcId; fault: Fault };
export type RpcFrame =
  | { kind: 'single'; message: RpcMessage }
  | { kind: 'batch'; messages: RpcMessage[] }
  | { kind: 'unreadable'; fault: Fault };

/** Requests in one batch. */
export const BATCH_MAX = 32;

const ID_LENGTH_MAX = 256;
const METHOD_LENGTH_MAX = 128;
const MEMBERS: readonly string[] = ['jsonrpc', 'id', 'method', 'params'];

function readId({ id }: JsonObject): RpcId | undefined {
  const isId =
    id === null || typeof id === 'number' || (typeof id === 'string' && id.length <= ID_LENGTH_MAX);
  return isId ? id : undefined;
}

function findIssue(value: JsonObject): { pointer: string; reason: string } | undefined {
  const unknown = Object.keys(value).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) return { pointer: '', reason: `has members beside ${MEMBERS.join(', ')}` };
  if (value.jsonrpc !== '2.0') return { pointer: '/jsonrpc', reason: 'must be "2.0"' };
  const { method, params } = value;
  if (typeof method !== 'string' || method.length > METHOD_LENGTH_MAX) {
    return { pointer: '/method', reason: `must be a string of at most ${METHOD_LENGTH_MAX} characters` };
  }
  if (Object.hasOwn(value, 'id') && readId(value) === undefined) {
    return {
      pointer: '/id',
      reason: `must be a string of at most ${ID_LENGTH_MAX} characters, a number or null`,
    };
  }
  if (params !== undefined && (typeof params !== 'object' || params === null)) {
    return { pointer: '/params', reason: 'must be an object' };
  }
  return undefined;
}

function invalid(id: RpcId, pointer: string, reason: string): RpcMessage {
  const issues = [{ pointer, reason }];
  const detail = 'this is no json-rpc 2.0 request. Mend the places in `errors`';
  return { kind: 'invalid', id, fault: new Fault('invalid_request', detail, { issues }) };
}

function readMessage(value: JsonValue): RpcMessage {
  if (!isJsonObject(value)) return invalid(null, '', 'must be an object');
  const issue = findIssue(value);
  if (issue !== undefined) return invalid(readId(value) ?? null, issue.pointer, issue.reason);
  return {
    kind: 'request',
    request: {
      id: Object.hasOwn(value, 'id') ? readId(value) : undefined,
      method: value.method as string,
      params: value.params ?? {},
    },
  };
}

/** Reads a frame as strict JSON, then as a request or a batch of at most `BATCH_MAX`. Never throws. */
export function readFrame(bytes: Uint8Array): RpcFrame {
  let value: JsonValue;
  try {
    value = parseStrictJson(bytes);
  } catch (error) {
    return { kind: 'unreadable', fault: toFault(error) };
  }
  if (!Array.isArray(value)) return { kind: 'single', message: readMessage(value) };
  if (value.length === 0) return { kind: 'single', message: invalid(null, '', 'is a batch of nothing') };
  if (value.length > BATCH_MAX) {
    return { kind: 'single', message: invalid(null, '', `is a batch of more than ${BATCH_MAX} requests`) };
  }
  return { kind: 'batch', messages: value.map(readMessage) };
}
