import type { ApiAnswer, ApiClient } from '../support/api_client.ts';
import { ask } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { SoftwareAuthenticator } from '../support/software_authenticator.ts';
import type { TestService } from '../support/test_service.ts';
import { type Actor, expectOk, newApprover, newName } from './support.ts';

/** Where the pages of the service under test are; passkeys are bound to it. */
export const ORIGIN = 'http://localhost:8080';
export const WEBAUTHN_ENV = { AEGIS_PUBLIC_URL: ORIGIN };

/** Rules by which a release needs one signed vote. */
export async function askForSignatures(operator: ApiClient, more = ''): Promise<void> {
  await putTool(operator, 'deploy', 'release', RELEASE);
  await putPolicies(operator, releaseAsk(`@signature("webauthn")\n${more}`));
}

/** Asks for a release, which needs a signed vote. */
export function askSigned(service: TestService, context: object = {}): Promise<string> {
  return ask(service.agent, release(newName('shop')), {
    workspace: 'repo:shop',
    session_id: 's-1',
    ...context,
  });
}

export async function newCode(service: TestService, principal: string): Promise<string> {
  const answer = await service.operator.post(`/v1/principals/${principal}/enrolment-codes`);
  if (answer.status !== 201) throw new Error(`no code: ${answer.text}`);
  return answer.body.code;
}

/** Registers a first passkey with a new code. */
export async function register(
  service: TestService,
  actor: Actor,
  authenticator = new SoftwareAuthenticator(ORIGIN),
): Promise<SoftwareAuthenticator> {
  const code = await newCode(service, actor.principal);
  const begun = await actor.client.post('/v1/webauthn/registrations', { code });
  expectOk(begun);
  const made = await actor.client.post('/v1/webauthn/registrations/verify', {
    registration: authenticator.create(begun.body.options),
  });
  if (made.status !== 201) throw new Error(`no passkey: ${made.text}`);
  return authenticator;
}

export interface Signer extends Actor {
  authenticator: SoftwareAuthenticator;
}

/** An approver with a passkey. */
export async function newSigner(service: TestService, groups: string[] = []): Promise<Signer> {
  const actor = await newApprover(service, groups);
  return { ...actor, authenticator: await register(service, actor) };
}

/** The signature options of a vote. */
export async function optionsFor(
  { client }: Actor,
  id: string,
  ballot: object = { decision: 'approve' },
): Promise<ApiAnswer['body']> {
  const answer = await client.post(`/v1/approvals/${id}/signature-options`, ballot);
  expectOk(answer);
  return answer.body;
}

/** Approves with a signature over the vote's options. */
export async function approveSigned(signer: Signer, id: string, body: object = {}): Promise<ApiAnswer> {
  const { options } = await optionsFor(signer, id, { decision: 'approve', ...body });
  return approveWith(signer, id, signer.authenticator.get(options), body);
}

export function approveWith(
  { client }: Actor,
  id: string,
  signature: unknown,
  body: object = {},
): Promise<ApiAnswer> {
  return client.post(`/v1/approvals/${id}/approve`, { ...body, signature });
}
