import type { Approval } from '../../core/approval.ts';
import type { ApprovalStore } from '../../core/approval_ports.ts';
import { tellEvent } from '../../core/approval_summary.ts';
import { type ApprovalEvent, type EventPosition, formatEventId } from '../../core/event_ports.ts';
import type { Masker } from '../../core/masker.ts';

/** An event as all are told of it who may hear of its agent's approvals. */
export interface ToldEvent {
  /** As on the wire. */
  id: string;
  position: EventPosition;
  agent: string;
  type: ApprovalEvent['type'];
  /** An `EventNews`, in one line. */
  json: string;
}

/** Tells events, in their order. */
export type Teller = (events: readonly ApprovalEvent[]) => Promise<ToldEvent[]>;

/** Told events that are remembered: readers who come back all at once ask for the same ones. */
const REMEMBERED_MAX = 1000;

function tell(event: ApprovalEvent, approval: Approval, masker: Masker): ToldEvent {
  const { position, agent, type } = event;
  const json = JSON.stringify(tellEvent(event, approval, masker));
  return { id: formatEventId(position), position, agent, type, json };
}

/** Tells the events of one tenant, each once for however many readers; their approvals are read together. */
export function createTeller(
  approvals: Pick<ApprovalStore, 'find'>,
  tenantId: string,
  masker: Masker,
): Teller {
  const remembered = new Map<string, ToldEvent>();
  const remember = (told: ToldEvent): void => {
    remembered.set(told.id, told);
    const [oldest] = remembered.keys();
    if (remembered.size > REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
  };
  const readApproval = async (approvalId: string): Promise<[string, Approval]> => {
    const approval = await approvals.find(tenantId, approvalId);
    if (approval === undefined) throw new Error('an event of an approval that is not there');
    return [approvalId, approval];
  };
  return async (events) => {
    const known = new Map(events.map((event) => [event, remembered.get(formatEventId(event.position))]));
    const untold = events.filter((event) => known.get(event) === undefined);
    const ids = [...new Set(untold.map(({ approvalId }) => approvalId))];
    const found = new Map(await Promise.all(ids.map(readApproval)));
    return events.map((event) => {
      const told = known.get(event) ?? tell(event, found.get(event.approvalId) as Approval, masker);
      remember(told);
      return told;
    });
  };
}
