import { toEphemeral } from '../../core/slack_ephemeral.ts';
import { CALL_TIMEOUT_MS } from './web_api_messenger.ts';

/** Where Slack takes answers to clicks. */
const SLACK_HOOKS = 'https://hooks.slack.com';

export interface ReplyOptions {
  /** A stand-in for Slack's own API, whose host is taken for Slack's. */
  apiUrl: string | undefined;
  onTrouble: (error: unknown) => void;
}

async function tell(url: string, text: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(toEphemeral(text)),
    redirect: 'error',
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`slack answers with status ${response.status}`);
}

/**
 * Says something to whoever clicked, at the address that came with the click: of a click's own answer Slack shows
 * nothing. An address that is not Slack's is left alone. Not awaited by the click and told once: how things stand is
 * for the message to show.
 */
export function createReply({ apiUrl, onTrouble }: ReplyOptions): (url: string, text: string) => void {
  const origins = [SLACK_HOOKS, ...(apiUrl === undefined ? [] : [new URL(apiUrl).origin])];
  return (url, text) => {
    if (!URL.canParse(url) || !origins.includes(new URL(url).origin)) return;
    void tell(url, text).catch(onTrouble);
  };
}
