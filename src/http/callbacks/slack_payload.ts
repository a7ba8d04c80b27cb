import * as z from 'zod';
import { readSlackButton, SLACK_ACTIONS } from '../../core/slack_button.ts';
import type { SlackClick } from '../../operations/slack/decide.ts';

/** What Slack has sent, as far as this service knows it. */
export type SlackRequest =
  | { kind: 'click'; click: SlackClick; responseUrl: string | undefined }
  /** Wants no answer: a link was opened, or Slack looks whether somebody is there. */
  | { kind: 'nothing' }
  | { kind: 'challenge'; challenge: string }
  | { kind: 'unknown'; responseUrl: string | undefined };

/** Of the many members of a click, those that are looked at. */
const blockActions = z.object({
  type: z.literal('block_actions'),
  user: z.object({ id: z.string().min(1).max(128) }),
  actions: z.array(z.object({ action_id: z.string(), value: z.string().optional() })).length(1),
  response_url: z.string().optional(),
});
const urlVerification = z.object({ type: z.literal('url_verification'), challenge: z.string().max(1_000) });
const withResponseUrl = z.object({ response_url: z.string().optional() });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function readPayload(payload: unknown): SlackRequest {
  const responseUrl = withResponseUrl.safeParse(payload).data?.response_url;
  const unknown: SlackRequest = { kind: 'unknown', responseUrl };
  const clicked = blockActions.safeParse(payload).data;
  const [action] = clicked?.actions ?? [];
  if (clicked === undefined || action === undefined) return unknown;
  if (action.action_id === SLACK_ACTIONS.open) return { kind: 'nothing' };
  const decision = (['approve', 'reject'] as const).find((one) => SLACK_ACTIONS[one] === action.action_id);
  const shown = readSlackButton(action.value ?? '');
  if (decision === undefined || shown === undefined) return unknown;
  return { kind: 'click', click: { slackUser: clicked.user.id, decision, shown }, responseUrl };
}

/** What the body of a request says that Slack has signed. Whatever is not known is `unknown`; never throws. */
export function readSlackRequest(bytes: Uint8Array): SlackRequest {
  const text = decodeText(bytes);
  if (text === undefined) return { kind: 'unknown', responseUrl: undefined };
  const verification = urlVerification.safeParse(parseJson(text)).data;
  if (verification !== undefined) return { kind: 'challenge', challenge: verification.challenge };
  const form = new URLSearchParams(text);
  if (form.get('ssl_check') === '1') return { kind: 'nothing' };
  const payloads = form.getAll('payload');
  return readPayload(payloads.length === 1 ? parseJson(payloads[0] ?? '') : undefined);
}
