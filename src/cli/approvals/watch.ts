import { parsePrincipal } from '../../core/identifiers.ts';
import { OperatorError } from '../../core/operator_error.ts';
import { readArguments } from '../arguments.ts';
import type { Command } from '../command.ts';
import { oneLine } from '../config_values.ts';
import { toJsonText } from '../terminal.ts';
import { connect } from './common.ts';
import { followEvents } from './follow_events.ts';
import { readAllApprovals } from './read_all.ts';
import { countVotes, describeTimeLeft, show, showShort } from './standing.ts';
import type { Surroundings } from './surroundings.ts';
import { readNews, type WireApproval, type WireNews } from './wire.ts';

const USAGE = 'aegis approvals watch [--agent NAME] [--json]';

/** What is printed of approvals that waited already. */
const PENDING = 'pending';

/** `aegis approvals watch` */
export function watchCommand(surroundings: Surroundings): Command {
  return {
    usage: USAGE,
    summary:
      'prints what is pending, then what happens, a line each, or a JSON object each; goes on over lost connections until it is interrupted, which is 0',
    run: async (args, terminal) => {
      const options = { agent: { type: 'string' }, json: { type: 'boolean' } } as const;
      const { values } = readArguments(args, options, USAGE);
      const agent = readAgent(values.agent);
      const client = connect(surroundings.env, terminal);
      const { signal, release } = surroundings.watchInterrupt();
      const print = (type: string, eventId: string | null, news: WireNews): void => {
        if (values.json === true) terminal.print(toJsonText({ ...news, type, event_id: eventId }, 0));
        else terminal.print(describeNews(type, news));
      };
      /** What was told as pending, which the stream may tell once more as asked for. */
      const told = new Set<string>();
      const tellPending = async (): Promise<void> => {
        const { items, at } = await readAllApprovals(client, {
          status: 'pending',
          ...(agent !== undefined && { agent }),
        });
        for (const approval of items.reverse().filter(({ approval_id }) => !told.has(approval_id))) {
          told.add(approval.approval_id);
          print(PENDING, null, toNews(approval, at));
        }
      };
      try {
        await followEvents(client, {
          signal,
          wait: surroundings.wait,
          onNew: tellPending,
          onEvent: ({ type, data, id }) => {
            const news = readNews(data);
            if (agent !== undefined && news.agent !== agent) return;
            if (type === 'approval.requested' && told.has(news.approval_id)) return;
            print(type, id, news);
          },
          onLost: (why, milliseconds) => {
            const seconds = (milliseconds / 1000).toFixed(1);
            terminal.complain(`connection lost: ${why}. Trying again in ${seconds} s`);
          },
        });
        return 0;
      } finally {
        release();
      }
    },
  };
}

function readAgent(text: string | undefined): string | undefined {
  const agent = text === undefined ? undefined : parsePrincipal(text);
  if (text !== undefined && agent === undefined) {
    throw new OperatorError(`\`--agent\` is \`${oneLine(text)}\`, which no agent is called`);
  }
  return agent;
}

/** What an event would tell of an approval as it stands. */
function toNews(approval: WireApproval, at: number): WireNews {
  const { approval_id, version, status, agent, context, tool_call, action_hash, reason, edited } = approval;
  const { session_id, run_id, workspace, environment } = context;
  const { given, needed } = countVotes(approval);
  return {
    approval_id,
    version,
    status,
    agent,
    session_id,
    run_id,
    workspace,
    environment,
    tool: approval.resolved.tool,
    action: approval.resolved.action,
    resource: tool_call.resource ?? null,
    action_hash,
    reason,
    edited,
    votes: given,
    votes_required: needed,
    groups_required: approval.requirements.groups,
    decided_by: approval.decided_by,
    decision_reason: approval.decision_reason,
    void_reason: approval.void_reason,
    created_at: approval.created_at,
    expires_at: approval.expires_at,
    at: new Date(at).toISOString(),
  };
}

/** One line, such as `2026-01-02T03:04:05.678Z requested apr_… agent-1 stripe/refund ch_1: 0 of 1 votes, 29m left`. */
function describeNews(type: string, news: WireNews): string {
  const { at, approval_id, agent, tool, action, resource } = news;
  const what = `${tool}/${action}${resource === null ? '' : ` ${resource}`}`;
  const name = show(type.replace(/^approval\./, '')).padEnd(9);
  return `${at} ${name} ${approval_id} ${show(agent)} ${showShort(what)}: ${describeState(news)}`;
}

function describeState(news: WireNews): string {
  const { status, votes, votes_required, expires_at, at, decided_by, decision_reason, void_reason } = news;
  if (status === 'pending') {
    const left = describeTimeLeft(Date.parse(expires_at) - Date.parse(at));
    return `${votes} of ${votes_required} votes, ${left} left`;
  }
  const by = decided_by === null ? '' : ` by ${show(decided_by)}`;
  const because = decision_reason ?? void_reason;
  return `${show(status)}${by}${because === null ? '' : `: "${showShort(because)}"`}`;
}
