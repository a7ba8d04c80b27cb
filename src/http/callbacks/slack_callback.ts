import { Fault } from '../../core/fault.ts';
import { toEphemeral } from '../../core/slack_ephemeral.ts';
import type { Deps } from '../../operations/deps.ts';
import { NOT_OURS, UNAVAILABLE } from '../../operations/slack/answers.ts';
import { decideFromSlack, type SlackClick } from '../../operations/slack/decide.ts';
import { readIncomingBytes, readStreamBytes } from '../body_bytes.ts';
import type { Log } from '../log.ts';
import { logFault } from '../log_fault.ts';
import { BODY_LIMITS } from '../read_body.ts';
import { newRequestId } from '../request_id.ts';
import type { HonoContext, OpenRoute } from '../routes/open.ts';
import { toFault } from '../to_fault.ts';
import { readSlackRequest } from './slack_payload.ts';
import { isSignedBySlack, readSlackSignature } from './slack_signature.ts';

const SLACK_CALLBACK_PATH = '/v1/callbacks/slack';

export interface SlackCallbackOptions {
  signingSecret: string;
  /** The tenant whose approvals are decided. */
  tenantId: string;
  now: () => Date;
  /** Says something to whoever clicked, at the address that Slack gave with the click. */
  reply: (responseUrl: string, text: string) => void;
}

function unsigned(): Fault {
  return new Fault(
    'unauthenticated',
    'the request is not signed by slack for this service, or not within five minutes of now. Check the signing secret and the clock',
  );
}

function readBytes(c: HonoContext): Promise<Uint8Array> {
  const incoming = c.env?.incoming;
  if (incoming !== undefined) return readIncomingBytes(incoming, BODY_LIMITS);
  const stream = c.req.raw.body as ReadableStream<Uint8Array> | null;
  return stream === null ? Promise.resolve(new Uint8Array()) : readStreamBytes(stream, BODY_LIMITS);
}

/** The body as Slack has signed it; nothing is read of what it says before. @throws Fault `unauthenticated`. */
async function readSigned(c: HonoContext, { signingSecret, now }: SlackCallbackOptions): Promise<Uint8Array> {
  const signature = readSlackSignature(c.req.raw.headers, now());
  if (signature === undefined) throw unsigned();
  const bytes = await readBytes(c);
  if (!isSignedBySlack(signature, bytes, signingSecret)) throw unsigned();
  return bytes;
}

/** Decides, and says what became of it; what fails is logged, and said to have decided nothing. */
async function decide(
  deps: Deps,
  log: Log,
  { tenantId }: SlackCallbackOptions,
  click: SlackClick,
): Promise<string> {
  try {
    return await decideFromSlack(deps, tenantId, click);
  } catch (error) {
    logFault(log, toFault(error), newRequestId());
    return UNAVAILABLE;
  }
}

/** Where Slack tells of clicks. Open without a credential: what counts is Slack's signature, and who clicked. */
export function slackCallbackRoute(deps: Deps, log: Log, options: SlackCallbackOptions): OpenRoute {
  const handle = async (c: HonoContext): Promise<Response> => {
    const request = readSlackRequest(await readSigned(c, options));
    c.header('Cache-Control', 'no-store');
    if (request.kind === 'nothing') return c.body(null, 200);
    if (request.kind === 'challenge') return c.json({ challenge: request.challenge });
    const { responseUrl } = request;
    const text = request.kind === 'click' ? await decide(deps, log, options, request.click) : NOT_OURS;
    if (responseUrl !== undefined) options.reply(responseUrl, text);
    return c.json(toEphemeral(text));
  };
  return { method: 'post', path: SLACK_CALLBACK_PATH, handle };
}
