import { createHash, generateKeyPairSync } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/storage/database.ts';
import { deleteExpired } from '../../src/storage/delete_expired.ts';
import { ask, authorize, makeKey, refund } from '../support/calls.ts';
import { putPolicies, release, releaseAsk } from '../support/rules.ts';
import { type Deviation, SoftwareAuthenticator } from '../support/software_authenticator.ts';
import { startTestService } from '../support/test_service.ts';
import {
  editedCall,
  expectOk,
  expectProblem,
  expire,
  newActor,
  newApprover,
  ROOMY,
  readApproval,
  uuidOf,
} from './support.ts';
import {
  approveSigned,
  approveWith,
  askForSignatures,
  askSigned,
  newSigner,
  ORIGIN,
  optionsFor,
  register,
  type Signer,
  WEBAUTHN_ENV,
} from './webauthn_support.ts';

const service = await startTestService({
  env: { ...ROOMY, ...WEBAUTHN_ENV, AEGIS_APPROVAL_ATTEMPT_LIMIT: '1000' },
});
afterAll(() => service.close());
await askForSignatures(service.operator, '@max_scope("window")');

const signer = await newSigner(service);
const other = await newSigner(service);
const plain = await newApprover(service);

const INVALID = 'signature_invalid';

/** Asserts that nothing was decided or voted. */
async function expectUntouched(id: string): Promise<void> {
  expect(await readApproval(service.approver, id)).toMatchObject({ status: 'pending', votes: [] });
}

describe('a vote that policy wants signed', () => {
  test('counts with a signature over the statement, and is shown with all that it takes to verify it', async () => {
    const id = await askSigned(service, { environment: 'production' });
    const before = await readApproval(signer.client, id);
    const { options, statement, expires_at } = await optionsFor(signer, id);
    expect(options).toMatchObject({
      rpId: 'localhost',
      userVerification: 'required',
      allowCredentials: [{ id: signer.authenticator.credentialId, type: 'public-key' }],
      challenge: createHash('sha256').update(statement).digest('base64url'),
    });
    expect(Date.parse(expires_at)).toBeGreaterThan(Date.now());
    const { nonce, ...said } = JSON.parse(statement);
    expect(said).toEqual({
      v: 1,
      tenant: 'default',
      approval_id: id,
      version: 1,
      approver: signer.principal,
      decision: 'approve',
      scope: 'once',
      window_seconds: null,
      max_uses: null,
      agent: 'agent-1',
      workspace: 'repo:shop',
      environment: 'production',
      session_id: 's-1',
      action_hash: before.action_hash,
      view_hash: before.review.view_hash,
      tool_facts_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      policy_revision: before.policy_revision,
      requirements: { votes: 1, groups: [], signature: 'webauthn' },
      expires_at: before.expires_at,
    });
    expect(Buffer.from(nonce, 'base64url')).toHaveLength(32);
    const signature = signer.authenticator.get(options);
    expectOk(await approveWith(signer, id, signature, { reason: 'fine' }), {
      status: 'approved',
      decided_by: signer.principal,
      votes: [
        {
          approver: signer.principal,
          decision: 'approve',
          reason: 'fine',
          signature: {
            statement,
            credential_id: signer.authenticator.credentialId,
            client_data_json: signature.response.clientDataJSON,
            authenticator_data: signature.response.authenticatorData,
            signature: signature.response.signature,
            rp_id: 'localhost',
            origin: ORIGIN,
          },
        },
      ],
    });
    expectOk(await service.agent.post(`/v1/approvals/${id}/consume`), { status: 'consumed' });
  });

  test('does not count unsigned, whoever has a passkey or none', async () => {
    const id = await askSigned(service);
    for (const { client } of [signer, plain]) {
      const refused = await client.post(`/v1/approvals/${id}/approve`);
      expectProblem(refused, 403, 'signature_required', {
        detail: expect.stringContaining('signature-options'),
      });
    }
    await expectUntouched(id);
  });

  test('may be a no without a signature, or with one', async () => {
    const first = await askSigned(service);
    const unsigned = await plain.client.post(`/v1/approvals/${first}/reject`, { reason: 'no' });
    expectOk(unsigned, { status: 'rejected' });
    expect(unsigned.body.votes[0]).not.toHaveProperty('signature');
    const second = await askSigned(service);
    const { options, statement } = await optionsFor(signer, second, { decision: 'reject' });
    const signature = signer.authenticator.get(options);
    const signed = await signer.client.post(`/v1/approvals/${second}/reject`, { reason: 'no', signature });
    expectOk(signed, { status: 'rejected', votes: [{ decision: 'reject', signature: { statement } }] });
  });

  test('is not had by who has no passkey: no options', async () => {
    const id = await askSigned(service);
    const refused = await plain.client.post(`/v1/approvals/${id}/signature-options`, { decision: 'approve' });
    expectProblem(refused, 403, 'forbidden', { detail: expect.stringContaining('passkey') });
  });

  test('is not had by an agent or an operator', async () => {
    const id = await askSigned(service);
    for (const client of [service.agent, service.operator]) {
      const refused = await client.post(`/v1/approvals/${id}/signature-options`, { decision: 'approve' });
      expectProblem(refused, 403, 'forbidden');
    }
  });
});

test('a vote that nobody wants signed may be signed all the same', async () => {
  const id = await ask(service.agent);
  expectOk(await approveSigned(signer, id), {
    status: 'approved',
    votes: [{ signature: { credential_id: signer.authenticator.credentialId } }],
  });
});

describe('a signature that does not stand refuses the vote, asked for or not', () => {
  const { privateKey: strangerKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const deviations: [string, Deviation][] = [
    ['another challenge', { challenge: Buffer.alloc(32, 1).toString('base64url') }],
    ['another origin', { origin: 'http://localhost:8081' }],
    ['another relying party', { rpId: 'aegis.example' }],
    ['no verified user', { isUserVerified: false }],
    ['nobody present', { isUserPresent: false, isUserVerified: false }],
    ['a frame of another origin', { crossOrigin: true }],
    ['the type of a registration', { type: 'webauthn.create' }],
    ['a counter that stood still', { counter: 1 }],
    ['a counter of none', { counter: 0 }],
    ['an unknown credential', { credentialId: 'AAAA' }],
    ['another key', { key: strangerKey }],
  ];

  test.each(deviations)('%s', async (_what, deviation) => {
    for (const id of [await askSigned(service), await ask(service.agent)]) {
      const { options } = await optionsFor(signer, id);
      expectProblem(
        await approveWith(signer, id, signer.authenticator.get(options, deviation)),
        403,
        INVALID,
      );
      await expectUntouched(id);
    }
  });

  test.each(['clientDataJSON', 'authenticatorData', 'signature'] as const)(
    'one bit of %s is another',
    async (member) => {
      const id = await askSigned(service);
      const { options } = await optionsFor(signer, id);
      const given = signer.authenticator.get(options) as { response: Record<string, string> };
      const bytes = Buffer.from(given.response[member] ?? '', 'base64url');
      bytes[bytes.length - 3] = (bytes[bytes.length - 3] ?? 0) ^ 1;
      const tampered = {
        ...given,
        response: { ...given.response, [member]: bytes.toString('base64url') },
      };
      expectProblem(await approveWith(signer, id, tampered), 403, INVALID);
      await expectUntouched(id);
    },
  );

  test('what is no assertion at all', async () => {
    const id = await askSigned(service);
    const { options } = await optionsFor(signer, id);
    const given = signer.authenticator.get(options);
    const withData = (response: object) => ({ ...given, response: { ...given.response, ...response } });
    const text = (value: string) => Buffer.from(value).toString('base64url');
    for (const signature of [
      withData({ clientDataJSON: text('{}') }),
      withData({ clientDataJSON: text('[') }),
      withData({ clientDataJSON: text('null') }),
      withData({ clientDataJSON: text('{"challenge":"\\u0000","origin":"\\u0000"}') }),
      withData({ authenticatorData: 'AA' }),
      withData({ signature: 'AA' }),
      { ...given, rawId: 'AAAA' },
    ]) {
      expectProblem(await approveWith(signer, id, signature), 403, INVALID);
    }
    for (const signature of [{}, 'x', { ...given, type: 'password' }, withData({ signature: '+/==' })]) {
      expectProblem(await approveWith(signer, id, signature), 422, 'invalid_request');
    }
    await expectUntouched(id);
  });

  test('a rejection with a bad signature is refused too', async () => {
    const id = await askSigned(service);
    const { options } = await optionsFor(signer, id, { decision: 'reject' });
    const signature = signer.authenticator.get(options, { isUserVerified: false });
    expectProblem(await signer.client.post(`/v1/approvals/${id}/reject`, { signature }), 403, INVALID);
    await expectUntouched(id);
  });

  test('it counts as a failed attempt on the approval', async () => {
    const own = await newSigner(service);
    const id = await askSigned(service);
    const { options } = await optionsFor(own, id);
    await approveWith(own, id, own.authenticator.get(options, { isUserVerified: false }));
    const rows = await service.sql`select points from rate_limits where key like 'attempt:%' and points = 1`;
    expect(rows.length).toBeGreaterThan(0);
  });
});

describe('a signature is for its own vote alone', () => {
  test("another approver's passkey does not sign mine, nor mine theirs", async () => {
    const id = await askSigned(service);
    const mine = await optionsFor(signer, id);
    expectProblem(await approveWith(signer, id, other.authenticator.get(mine.options)), 403, INVALID);
    expectProblem(await approveWith(other, id, signer.authenticator.get(mine.options)), 403, INVALID);
    expectProblem(await approveWith(other, id, other.authenticator.get(mine.options)), 403, INVALID);
    await expectUntouched(id);
  });

  test('of another approval it is refused', async () => {
    const [first, second] = [await askSigned(service), await askSigned(service)];
    const { options } = await optionsFor(signer, first);
    expectProblem(await approveWith(signer, second, signer.authenticator.get(options)), 403, INVALID);
    await expectUntouched(second);
  });

  test('for a no it is no yes, and the other way round', async () => {
    const id = await askSigned(service);
    const no = await optionsFor(signer, id, { decision: 'reject' });
    expectProblem(await approveWith(signer, id, signer.authenticator.get(no.options)), 403, INVALID);
    const yes = await optionsFor(signer, id);
    const signature = signer.authenticator.get(yes.options);
    expectProblem(await signer.client.post(`/v1/approvals/${id}/reject`, { signature }), 403, INVALID);
    await expectUntouched(id);
  });

  test('for one scope it is for no other, and for one window neither', async () => {
    const id = await askSigned(service);
    const window = { scope: 'window', window_seconds: 600, max_uses: 2 };
    const once = await optionsFor(signer, id);
    for (const wider of [{ scope: 'session' }, window]) {
      expectProblem(
        await approveWith(signer, id, signer.authenticator.get(once.options), wider),
        403,
        INVALID,
      );
    }
    const windowed = await optionsFor(signer, id, { decision: 'approve', ...window });
    for (const changed of [{ window_seconds: 601 }, { max_uses: 3 }]) {
      const signature = signer.authenticator.get(windowed.options);
      expectProblem(await approveWith(signer, id, signature, { ...window, ...changed }), 403, INVALID);
    }
    await expectUntouched(id);
    expectOk(await approveWith(signer, id, signer.authenticator.get(windowed.options), window), {
      status: 'approved',
    });
  });

  test('does not bring back a vote that was dropped', async () => {
    await askForSignatures(service.operator, '@max_scope("window")\n@votes("2")');
    const id = await askSigned(service);
    const { options } = await optionsFor(signer, id);
    const key = await makeKey(service.operator, { principal: signer.principal, roles: ['approver'] });
    const signature = signer.authenticator.get(options);
    expectOk(await service.as(key.token).post(`/v1/approvals/${id}/approve`, { signature }), {
      status: 'pending',
      votes: [{ approver: signer.principal }],
    });
    expect((await service.operator.delete(`/v1/keys/${key.id}`)).status).toBe(204);
    await expectUntouched(id);
    // Dropping it made a new version: what was signed is not what there is now.
    expectProblem(await approveWith(signer, id, signer.authenticator.get(options)), 412, 'stale_version');
    await expectUntouched(id);
    await askForSignatures(service.operator, '@max_scope("window")');
  });

  test('does not work where its challenge had an answer', async () => {
    const id = await askSigned(service);
    const { options } = await optionsFor(signer, id);
    await service.sql`update webauthn_challenges set used_at = clock_timestamp()
      where challenge = ${options.challenge}`;
    expectProblem(await approveWith(signer, id, signer.authenticator.get(options)), 403, INVALID);
    await expectUntouched(id);
  });

  test('made before one that was used is refused: the counter goes up', async () => {
    const [first, second] = [await askSigned(service), await askSigned(service)];
    const older = signer.authenticator.get((await optionsFor(signer, first)).options);
    const newer = signer.authenticator.get((await optionsFor(signer, second)).options);
    expectOk(await approveWith(signer, second, newer), { status: 'approved' });
    expectProblem(await approveWith(signer, first, older), 403, INVALID);
    await expectUntouched(first);
  });

  test('of two votes at once with one signature, one is cast', async () => {
    const id = await askSigned(service);
    const { options } = await optionsFor(signer, id);
    const signature = signer.authenticator.get(options);
    const answers = await Promise.all([1, 2, 3].map(() => approveWith(signer, id, signature)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    const [row] = await service.sql`
      select count(*)::int as votes from votes where approval_id = ${uuidOf(id)}`;
    expect(row?.votes).toBe(1);
  });

  test('a second signed vote of a principal is 200 and changes nothing, with the same signature or a new one', async () => {
    await askForSignatures(service.operator, '@max_scope("window")\n@votes("2")');
    const id = await askSigned(service);
    const { options } = await optionsFor(signer, id);
    const signature = signer.authenticator.get(options);
    const first = await approveWith(signer, id, signature);
    expectOk(first, { status: 'pending' });
    const again = await approveWith(signer, id, signature);
    expect(again.body).toEqual(first.body);
    expect((await approveSigned(signer, id)).body).toEqual(first.body);
    expectOk(await approveSigned(other, id), { status: 'approved' });
    await askForSignatures(service.operator, '@max_scope("window")');
  });
});

describe('what was signed must be what the approval is now', () => {
  test('an edit in between: 412', async () => {
    const id = await askSigned(service);
    const { options } = await optionsFor(signer, id);
    const tool_call = await editedCall(plain.client, id, { service: 'elsewhere' });
    const edited = await plain.client.post(`/v1/approvals/${id}/edit`, { tool_call });
    expectOk(edited, { version: 2 });
    const { action_hash } = edited.body;
    const stale = await approveWith(signer, id, signer.authenticator.get(options), { action_hash });
    expectProblem(stale, 412, 'stale_version');
    await expectUntouched(id);
    const anew = await optionsFor(signer, id);
    expectOk(await approveWith(signer, id, signer.authenticator.get(anew.options), { action_hash }), {
      status: 'approved',
    });
  });

  test('other rules in between: 409, the approval goes on under them, and a new signature counts', async () => {
    const id = await askSigned(service);
    const { options } = await optionsFor(signer, id);
    const text = `${releaseAsk('@signature("webauthn")\n@max_scope("window")')}
@id("no-lamps") forbid (principal is Aegis::Agent, action == Aegis::Action::"deploy.release", resource)
when { context has session_id && context.session_id == "nowhere" };`;
    await putPolicies(service.operator, text);
    const moved = await approveWith(signer, id, signer.authenticator.get(options));
    expectProblem(moved, 409, 'policy_changed', { approval_status: 'pending' });
    await expectUntouched(id);
    expectOk(await approveSigned(signer, id), { status: 'approved' });
    await askForSignatures(service.operator, '@max_scope("window")');
  });

  test('other rules in between that options are asked under: they are for the new ones', async () => {
    const id = await askSigned(service);
    const before = await readApproval(signer.client, id);
    await askForSignatures(service.operator, '@max_scope("session")');
    const { statement } = await optionsFor(signer, id);
    expect(JSON.parse(statement).policy_revision).not.toBe(before.policy_revision);
    expectOk(await approveSigned(signer, id), { status: 'approved' });
    await askForSignatures(service.operator, '@max_scope("window")');
  });

  test('a vote signed under other rules is no yes under these: what it approved is voided', async () => {
    const id = await askSigned(service);
    expectOk(await approveSigned(signer, id), { status: 'approved' });
    await askForSignatures(service.operator, '@max_scope("run")');
    const consumed = await service.agent.post(`/v1/approvals/${id}/consume`);
    expectProblem(consumed, 409, 'policy_changed', { void_reason: 'policy' });
    await askForSignatures(service.operator, '@max_scope("window")');
  });

  test('a signature comes to be asked for: an unsigned yes does not hold', async () => {
    await putPolicies(service.operator, releaseAsk('@max_scope("window")'));
    const id = await askSigned(service);
    expectOk(await plain.client.post(`/v1/approvals/${id}/approve`), { status: 'approved' });
    await askForSignatures(service.operator, '@max_scope("window")');
    expectProblem(await service.agent.post(`/v1/approvals/${id}/consume`), 409, 'policy_changed');
  });

  test('options after five minutes: 403', async () => {
    const id = await askSigned(service);
    const { options } = await optionsFor(signer, id);
    const signature = signer.authenticator.get(options);
    await service.sql`update webauthn_challenges set expires_at = clock_timestamp() where challenge = ${options.challenge}`;
    expectProblem(await approveWith(signer, id, signature), 403, INVALID);
    await expectUntouched(id);
  });

  test('an approval that has expired says so, whatever was signed', async () => {
    const id = await askSigned(service);
    const { options } = await optionsFor(signer, id);
    await expire(service, id);
    expectProblem(await approveWith(signer, id, signer.authenticator.get(options)), 410, 'approval_expired');
    const late = await signer.client.post(`/v1/approvals/${id}/signature-options`, { decision: 'approve' });
    expectProblem(late, 410, 'approval_expired');
  });

  test('options live no longer than the approval', async () => {
    const id = await askSigned(service);
    await service.sql`update approvals set expires_at = clock_timestamp() + interval '20 seconds'
      where approval_id = ${uuidOf(id)}`;
    const { expires_at } = await readApproval(signer.client, id);
    expect((await optionsFor(signer, id)).expires_at).toBe(expires_at);
  });
});

describe('options are refused for what the vote would be refused for', () => {
  test('an own ask', async () => {
    const self = await newActor(service, ['agent', 'approver']);
    await register(service, self);
    const id = await ask(self.client, release('own'));
    const refused = await self.client.post(`/v1/approvals/${id}/signature-options`, { decision: 'approve' });
    expectProblem(refused, 403, 'self_approval_forbidden');
  });

  test('a scope that policy caps, or the call has no place for', async () => {
    const id = await ask(service.agent, release('placeless'));
    const options = (body: object) => signer.client.post(`/v1/approvals/${id}/signature-options`, body);
    expectProblem(await options({ decision: 'approve', scope: 'session' }), 422, 'invalid_request');
    expectProblem(await options({ decision: 'approve', scope: 'window' }), 422, 'invalid_request');
    expectProblem(await options({ decision: 'reject', scope: 'session' }), 422, 'invalid_request');
    expectProblem(await options({ decision: 'maybe' }), 422, 'invalid_request');
    const capped = await ask(service.agent, refund(9000), { session_id: 's-1' });
    const refused = await signer.client.post(`/v1/approvals/${capped}/signature-options`, {
      decision: 'approve',
      scope: 'session',
    });
    expectProblem(refused, 403, 'scope_not_allowed');
  });

  test('another view or version than the present one', async () => {
    const id = await askSigned(service);
    const path = `/v1/approvals/${id}/signature-options`;
    const ballot = { decision: 'approve' };
    const otherView = { ...ballot, view_hash: 'f'.repeat(64) };
    expectProblem(await signer.client.post(path, otherView), 409, 'view_hash_mismatch');
    const otherVersion = { headers: { 'if-match': '"2"' } };
    expectProblem(await signer.client.post(path, ballot, otherVersion), 412, 'stale_version');
  });
});

describe('passkeys and principals that no longer stand', () => {
  test('a removed passkey signs no more, and what it signed stands', async () => {
    const own: Signer = await newSigner(service);
    const [voted, open] = [await askSigned(service), await askSigned(service)];
    expectOk(await approveSigned(own, voted), { status: 'approved' });
    const { options } = await optionsFor(own, open);
    const path = `/v1/webauthn/passkeys/${own.authenticator.credentialId}`;
    expect((await own.client.delete(path)).status).toBe(204);
    expectProblem(await approveWith(own, open, own.authenticator.get(options)), 403, INVALID);
    expectOk(await service.agent.post(`/v1/approvals/${voted}/consume`), { status: 'consumed' });
  });

  test('a disabled principal votes no more', async () => {
    const own = await newSigner(service);
    const id = await askSigned(service);
    const { options } = await optionsFor(own, id);
    const body = { groups: [], disabled: true };
    expectOk(await service.operator.call('PUT', `/v1/principals/${own.principal}`, body));
    expectProblem(await approveWith(own, id, own.authenticator.get(options)), 401, 'unauthenticated');
    await expectUntouched(id);
  });

  test('an authenticator that does not count is taken each time', async () => {
    const actor = await newApprover(service);
    const authenticator = new SoftwareAuthenticator(ORIGIN, { isCounting: false });
    const own = { ...actor, authenticator: await register(service, actor, authenticator) };
    for (const id of [await askSigned(service), await askSigned(service)]) {
      expectOk(await approveSigned(own, id), { status: 'approved' });
    }
  });
});

test('a grant that signed votes gave answers an ask for signatures under the same rules, and under no others', async () => {
  const call = release('granted');
  const context = { session_id: 's-granted', source_trust: 'trusted_internal' };
  const id = await ask(service.agent, call, context);
  expectOk(await approveSigned(signer, id, { scope: 'session' }), { status: 'approved' });
  expect((await authorize(service.agent, call, { context })).body.decision).toBe('allow');
  await askForSignatures(service.operator, '@max_scope("session")');
  expect((await authorize(service.agent, call, { context })).body.decision).toBe('require_approval');
  await askForSignatures(service.operator, '@max_scope("window")');
});

test('what is out of time is deleted', async () => {
  const id = await askSigned(service);
  const { options } = await optionsFor(signer, id);
  await service.sql`update webauthn_challenges set expires_at = clock_timestamp() where challenge = ${options.challenge}`;
  const database = openDatabase({ url: service.databaseUrl, poolMax: 1 });
  await deleteExpired(database);
  await database.close();
  const left = await service.sql`select 1 from webauthn_challenges where challenge = ${options.challenge}`;
  expect(left).toHaveLength(0);
});
