import { NO_LIMITS } from '../../core/caller.ts';
import { agentFrozen } from '../../core/common_faults.ts';
import { sha256Hex } from '../../core/digest.ts';
import { Fault } from '../../core/fault.ts';
import type { Deps } from '../deps.ts';
import { makeToken } from '../make_token.ts';

export interface SignInByOidcInput {
  tenantId: string;
  /** Whom the provider vouches for. */
  subject: string;
  /** The session that this browser had, which ends. */
  formerSecret: string | undefined;
}

/** OpenID Connect Core 1.0 §2: a subject has at most 255 ASCII characters. */
const SUBJECT = /^[ -~]{1,255}$/;

function unmapped(subject: string): Fault {
  return new Fault(
    'forbidden',
    `nobody here has the OpenID subject \`${subject}\`. Ask an operator to set it as \`oidc_subject\` of your principal, by \`PUT /v1/principals/:id\``,
  );
}

/**
 * Opens a session for the principal that a provider's subject is mapped to, with a key made for it: an approver's,
 * whose token nobody has. The session's secret, which is stored nowhere.
 * @throws Fault `forbidden` for a subject that is nobody's or a disabled principal's; `agent_frozen`.
 */
export async function signInByOidc(deps: Deps, input: SignInByOidcInput): Promise<string> {
  const { tenantId, subject, formerSecret } = input;
  if (!SUBJECT.test(subject)) {
    throw new Fault(
      'forbidden',
      "the provider's subject is none (OpenID Connect Core 1.0 §2). Ask an operator",
    );
  }
  if (formerSecret !== undefined) await deps.consoleSessions.close(sha256Hex(formerSecret));
  const { keyId, tokenHash } = makeToken(deps);
  const secret = deps.newSecret();
  const opened = await deps.consoleSessions.openOidc({
    subject,
    sessionHash: sha256Hex(secret),
    key: {
      ...{ tenantId, keyId, tokenHash },
      roles: ['approver'],
      groups: [],
      owner: null,
      defaultOwner: null,
      limits: NO_LIMITS,
      createdBy: null,
      origin: 'oidc',
    },
  });
  if (opened === 'unmapped') throw unmapped(subject);
  if (opened === 'disabled')
    throw new Fault('forbidden', 'your principal is disabled. Ask an operator to lift that');
  if (opened === 'frozen') throw agentFrozen();
  return secret;
}
