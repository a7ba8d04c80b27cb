import { Fault } from '../../core/fault.ts';
import { findUnsafeText } from '../../core/identifiers.ts';

/** As long as a workspace's name may be. */
const NODE_ID_MAX = 256;

/** @throws Fault `invalid_request` for an id that no workspace has; null is the tenant itself. */
export function assertNodeId(nodeId: string | null): void {
  if (nodeId === null) return;
  if (nodeId !== '' && nodeId.length <= NODE_ID_MAX && findUnsafeText(nodeId) === undefined) return;
  const reason = `must be 1 to ${NODE_ID_MAX} characters, none of them control or bidi ones`;
  throw new Fault('invalid_request', 'the node cannot be called so. Send the name of a workspace', {
    issues: [{ pointer: '/node_id', reason }],
  });
}
