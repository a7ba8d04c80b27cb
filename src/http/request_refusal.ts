import type { IncomingMessage } from 'node:http';
import { Fault } from '../core/fault.ts';
import { findRepeatedHeader } from './request_headers.ts';

/** Why a request that node could parse is refused all the same. */
export function findRefusal(incoming: IncomingMessage): Fault | undefined {
  const repeated = findRepeatedHeader(incoming.rawHeaders);
  if (repeated !== undefined) {
    return new Fault('bad_request', `the \`${repeated}\` header stands more than once. Send it once`);
  }
  if (incoming.headers.host === undefined && incoming.httpVersion === '1.1') {
    return new Fault('bad_request', 'the `host` header is missing. Send it (RFC 9112 §3.2)');
  }
  return undefined;
}
