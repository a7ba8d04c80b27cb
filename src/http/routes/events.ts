import { followEvents } from '../../operations/events/follow_events.ts';
import { EVENT_STREAM_TYPE, parseLastEventId, streamEvents } from '../events/event_stream.ts';
import { defineRoute } from '../route.ts';

export const followEventsRoute = defineRoute({
  operationId: 'followEvents',
  summary: 'Hear what happens to approvals, as it happens',
  description: [
    'A stream of Server-Sent Events without an end: `id` names the event, `event` is its type, `data` is an `ApprovalEvent` in one line of JSON.',
    'Every replica tells the same events in the same order. A client that lost the stream sends the last `id` as `Last-Event-ID` and misses none of the last 48 hours; without it what is new is told. Comments are sent when nothing else is.',
    'It ends when the key is revoked, frozen or expires. An agent hears of its own approvals.',
  ].join(' '),
  method: 'get',
  path: '/v1/events',
  roles: ['approver', 'operator', 'auditor', 'agent'],
  headers: ['last-event-id'],
  success: {
    status: 200,
    description: 'the events',
    stream: EVENT_STREAM_TYPE,
    headers: { 'X-Accel-Buffering': '`no`: proxies are to pass on what comes at once' },
  },
  problems: [],
  handle: async ({ deps, caller, header, signal }) => {
    const after = parseLastEventId(header('last-event-id'));
    return { stream: streamEvents(await followEvents(deps, caller, { after, signal: signal() })) };
  },
});
