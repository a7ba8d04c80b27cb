import { afterAll, describe, expect, test } from 'vitest';
import { ask, authorize } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { SoftwareAuthenticator } from '../support/software_authenticator.ts';
import { startTestService } from '../support/test_service.ts';
import { expectOk, expectProblem, newApprover, newName, ROOMY } from './support.ts';
import {
  approveSigned,
  approveWith,
  askForSignatures,
  askSigned,
  newSigner,
  ORIGIN,
  optionsFor,
  type Signer,
  WEBAUTHN_ENV,
} from './webauthn_support.ts';

const service = await startTestService({ env: { ...ROOMY, ...WEBAUTHN_ENV } });
afterAll(() => service.close());
await putTool(service.operator, 'deploy', 'release', RELEASE);

/** How much is kept for one principal at the most. */
const MOST = 32;

describe('a signature that nobody asked for', () => {
  test('answers no later ask for one under other rules, though its grant was used under them', async () => {
    const signer = await newSigner(service);
    await putPolicies(service.operator, releaseAsk('@max_scope("session")'));
    const call = release(newName('shop'));
    const context = {
      session_id: newName('s'),
      source_trust: 'trusted_internal',
      contains_sensitive_data: true,
    };
    const id = await ask(service.agent, call, context);
    expectOk(await approveSigned(signer, id, { scope: 'session' }), { status: 'approved' });
    await putPolicies(
      service.operator,
      `${releaseAsk('@max_scope("session")')}
@id("sensitive-is-signed") @decision("require_approval") @signature("webauthn") @max_scope("session")
permit (principal is Aegis::Agent, action == Aegis::Action::"deploy.release", resource)
when { context.contains_sensitive_data };`,
    );
    const decide = async (contains_sensitive_data: boolean) =>
      (await authorize(service.agent, call, { context: { ...context, contains_sensitive_data } })).body
        .decision;
    expect(await decide(false)).toBe('allow');
    expect(await decide(true)).toBe('require_approval');
    expect(await decide(false)).toBe('allow');
  });
});

describe('options are refused to who would sign in vain', () => {
  test('where no place is left that the vote could fill', async () => {
    await askForSignatures(service.operator, '@votes("2")\n@groups("finance,security")');
    const [finance, other] = [await newSigner(service, ['finance']), await newSigner(service, ['finance'])];
    const id = await askSigned(service);
    expectOk(await approveSigned(finance, id), { status: 'pending' });
    const refused = await other.client.post(`/v1/approvals/${id}/signature-options`, { decision: 'approve' });
    expectProblem(refused, 403, 'approver_not_eligible');
    // A no fills no place.
    await optionsFor(other, id, { decision: 'reject' });
  });
});

describe('what is kept for one principal', () => {
  async function countChallenges({ principal }: Signer): Promise<number> {
    const [row] = await service.sql`
      select count(*)::int as rows from webauthn_challenges where principal = ${principal}`;
    return row?.rows;
  }

  test('is a bounded number of challenges, the latest, whatever they are for', async () => {
    await askForSignatures(service.operator);
    const [signer, other] = [await newSigner(service), await newSigner(service)];
    const theirs = await askSigned(service);
    const { options: kept } = await optionsFor(other, theirs);
    const id = await askSigned(service);
    const { options: first } = await optionsFor(signer, id);
    for (let n = 0; n < MOST; n += 1) await optionsFor(signer, id);
    expectOk(await signer.client.post('/v1/webauthn/registrations', {}));
    const { options: last } = await optionsFor(signer, id);
    expect(await countChallenges(signer)).toBe(MOST);
    expectProblem(await approveWith(signer, id, signer.authenticator.get(first)), 403, 'signature_invalid');
    expectOk(await approveWith(signer, id, signer.authenticator.get(last)), { status: 'approved' });
    expectOk(await approveWith(other, theirs, other.authenticator.get(kept)), { status: 'approved' });
  });

  test('is a bounded number of passkeys', async () => {
    const signer = await newSigner(service);
    await service.sql`
      insert into passkeys (tenant_id, credential_id, principal, public_key, counter, transports, is_backed_up)
      select tenant_id, credential_id || n, principal, public_key, 0, transports, false
      from passkeys, generate_series(2, ${MOST - 1}) n where principal = ${signer.principal}`;
    const add = async () => {
      const begun = await signer.client.post('/v1/webauthn/registrations', {});
      expectOk(begun);
      return signer.client.post('/v1/webauthn/registrations/verify', {
        registration: new SoftwareAuthenticator(ORIGIN).create(begun.body.options),
        assertion: signer.authenticator.get(begun.body.assertion_options),
      });
    };
    expect((await add()).status).toBe(201);
    expectProblem(await add(), 422, 'invalid_request', { detail: expect.stringContaining('Remove one') });
    const path = `/v1/webauthn/passkeys/${signer.authenticator.credentialId}2`;
    expect((await signer.client.delete(path)).status).toBe(204);
    expect((await add()).status).toBe(201);
  });
});

test('an unsigned approver is asked for a passkey before anything is kept', async () => {
  await askForSignatures(service.operator);
  const plain = await newApprover(service);
  const id = await askSigned(service);
  expectProblem(
    await plain.client.post(`/v1/approvals/${id}/signature-options`, { decision: 'approve' }),
    403,
    'forbidden',
  );
  const rows = await service.sql`select 1 from webauthn_challenges where principal = ${plain.principal}`;
  expect(rows).toHaveLength(0);
});
