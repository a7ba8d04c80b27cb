import type { AegisErrorCode } from './error_code.ts';

const NO_OTHER_WAY = 'Do not retry it, reword it or reach the same effect another way.';

const TEXTS: Readonly<Record<AegisErrorCode, string>> = {
  denied: `This action was not run: policy denies it. ${NO_OTHER_WAY}`,
  rejected: `This action was not run: a person rejected it. ${NO_OTHER_WAY}`,
  expired:
    'This action was not run: nobody decided in time. This is not a rejection. Ask the user before asking again.',
  voided: 'This action was not run: its approval was withdrawn. Ask the user before asking again.',
  cancelled: 'This action was not run: its approval was cancelled. Ask the user before asking again.',
  already_consumed:
    'This call did not run the action: its approval was used before, and the action may have taken effect. Do not run it again; check what happened.',
  pending:
    'This action has not run: it waits for a person to decide. This is not a denial. Do not ask again; go on with what does not depend on it.',
  integrity:
    'This action was not run: what was approved could not be matched with what would run. Do not retry; tell the user.',
  throttled: 'This action was not run: too many requests. Try again later, once.',
  unavailable: 'This action was not run: the approval service could not be reached. Try again later, once.',
  invalid_request:
    'This action was not run: the request was refused as invalid. Correct it or tell the user.',
  unauthenticated:
    'This action was not run: the approval service does not accept the credential. Tell the user.',
  forbidden: `This action was not run: this agent may not ask for it. ${NO_OTHER_WAY}`,
};

const ASKED_ALREADY =
  'A person was asked already, and may have approved: do not ask again, tell the user that this call can be taken up again.';

/** The same once a person was asked: calling again would ask a second time. */
const TEXTS_ONCE_ASKED: Partial<Record<AegisErrorCode, string>> = {
  throttled: `This action was not run: too many requests. ${ASKED_ALREADY}`,
  unavailable: `This action was not run: the approval service could not be reached. ${ASKED_ALREADY}`,
};

/**
 * What to tell a model about an error of a call that a person was, or was not, asked about. The reason is another's
 * text and is therefore quoted as a JSON string.
 */
export function modelText(code: AegisErrorCode, reason: string | null, asked: boolean): string {
  const text = (asked ? TEXTS_ONCE_ASKED[code] : undefined) ?? TEXTS[code];
  return reason === null ? text : `${text} Reason given: ${JSON.stringify(reason)}`;
}
