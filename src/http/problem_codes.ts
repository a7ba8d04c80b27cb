import type { FaultCode } from '../core/fault.ts';
import type { AnyRoute } from './route.ts';

const ANY_ROUTE: readonly FaultCode[] = [
  'bad_request',
  'header_too_large',
  'invalid_request',
  'unauthenticated',
  'agent_frozen',
  'throttled',
  'internal_error',
  'unavailable',
];

const BODY: readonly FaultCode[] = ['invalid_json', 'body_too_large', 'unsupported_media_type'];

/** Every code a route may answer with: what follows from its form, and what it names itself. */
export function problemCodesOf(route: AnyRoute): FaultCode[] {
  const codes = new Set<FaultCode>([...ANY_ROUTE, ...route.problems]);
  if (route.roles !== 'any') codes.add('forbidden');
  if (route.attempts !== undefined) codes.add('not_found');
  // A POST that takes no body is read as well: what was sent with it must not go unseen.
  if (route.body !== undefined || route.method === 'post') for (const code of BODY) codes.add(code);
  if (route.rawBodyTypes !== undefined) codes.delete('invalid_json');
  return [...codes].sort();
}
