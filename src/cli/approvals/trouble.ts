import * as z from 'zod';
import { CommandFailed, type ExitCode } from '../command.ts';
import { visible } from '../terminal.ts';

/** What is shown of a problem document (RFC 9457), whoever wrote it. */
const problem = z.looseObject({
  detail: z.string(),
  code: z.string(),
  request_id: z.string().optional(),
  errors: z.array(z.looseObject({ pointer: z.string(), reason: z.string() })).optional(),
});

/** Refusals for what the approver or the asked-for scope is, not for what their key may call. */
const REFUSED_BY_STATE = new Set([
  'agent_frozen',
  'self_approval_forbidden',
  'approver_not_eligible',
  'scope_not_allowed',
  'signature_required',
]);

/** Errors of a connection that never came about: nothing was sent over it. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** What an answer that is none of success means for a script. `code` is undefined where no problem came with it. */
export function exitCodeOf(status: number, code: string | undefined): ExitCode {
  if (status >= 500 || status === 429) return 3;
  if (status === 409 || status === 410 || status === 412) return 1;
  return status === 403 && code !== undefined && REFUSED_BY_STATE.has(code) ? 1 : 2;
}

/** A request as a message names it. */
interface Asked {
  url: string;
  /** Whether it changes something, so that its outcome matters even when the answer is lost. */
  isVote: boolean;
}

const UNKNOWN_OUTCOME = 'whether the vote was counted is not known: `aegis approvals show` tells';

/** What an answer that is none of success says, in one or two lines. */
export function failedAnswer(response: Response, text: string, { url, isVote }: Asked): CommandFailed {
  const { status } = response;
  const read = problem.safeParse(parseJson(text));
  const exitCode = exitCodeOf(status, read.data?.code);
  const lost = isVote && status >= 500 ? [UNKNOWN_OUTCOME] : [];
  if (!read.success) {
    const what = `${url} answered with ${status}, but not as Aegis does. Check AEGIS_URL`;
    return new CommandFailed(exitCode, [what, ...lost].join('\n'));
  }
  const { detail, code, errors = [], request_id } = read.data;
  const more = [
    ...errors.map(({ pointer, reason }) => `\`${pointer}\` ${reason}`),
    ...(status >= 500 && request_id !== undefined ? [`request_id ${request_id}`] : []),
    ...lost,
    ...describeWait(response),
  ];
  const lines = [`${detail} (${code})`, more.join('; ')].filter((line) => line !== '');
  return new CommandFailed(exitCode, lines.map(visible).join('\n'));
}

function describeWait(response: Response): string[] {
  const seconds = response.headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(seconds) ? [`try again in ${seconds} s`] : [];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What it means that there was no answer. */
export function failedConnection(error: unknown, { url, isVote }: Asked): CommandFailed {
  const code = codeOf(error);
  const what = `the service at ${url} cannot be reached (${visible(code)}). Start it, or set AEGIS_URL`;
  const message = isVote && !NEVER_SENT.has(code) ? `${what}\n${UNKNOWN_OUTCOME}` : what;
  return new CommandFailed(3, message, error);
}

/** The code of what failed below `fetch`, which itself only says that it did. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  if (error.name === 'TimeoutError') return 'no answer in time';
  const { cause } = error;
  if (cause instanceof AggregateError) return codeOf(cause.errors[0]);
  if ('code' in error && typeof error.code === 'string') return error.code;
  return cause === undefined ? error.message : codeOf(cause);
}
