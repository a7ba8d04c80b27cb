import { v7 } from 'uuid';
import { formatId, type Id } from '../core/ids.ts';

/** A new `req_…` id. It stands in every problem and in the log; it never comes from the client. */
export function newRequestId(): Id<'request'> {
  return formatId('request', v7());
}
