import { afterAll, describe, expect, test } from 'vitest';
import { makeKey } from '../support/calls.ts';
import { type Deviation, SoftwareAuthenticator } from '../support/software_authenticator.ts';
import { startTestService } from '../support/test_service.ts';
import { type Actor, expectOk, expectProblem, newApprover, newName, ROOMY, sha256 } from './support.ts';
import { newCode, newSigner, ORIGIN, register, WEBAUTHN_ENV } from './webauthn_support.ts';

const service = await startTestService({ env: { ...ROOMY, ...WEBAUTHN_ENV } });
afterAll(() => service.close());

const INVALID = 'signature_invalid';
const BEGIN = '/v1/webauthn/registrations';
const VERIFY = '/v1/webauthn/registrations/verify';
const PASSKEYS = '/v1/webauthn/passkeys';

const begin = async ({ client }: Actor, body?: object) => {
  const answer = await client.post(BEGIN, body);
  expectOk(answer);
  return answer.body;
};

async function listOwn({ client }: Actor): Promise<{ credential_id: string }[]> {
  const answer = await client.get(PASSKEYS);
  expectOk(answer, { next_cursor: null });
  return answer.body.items;
}

describe('a first passkey', () => {
  test('is made with a code from an operator, and is listed', async () => {
    const actor = await newApprover(service);
    const authenticator = new SoftwareAuthenticator(ORIGIN);
    const begun = await begin(actor, { code: await newCode(service, actor.principal) });
    expect(begun).toMatchObject({
      assertion_options: null,
      options: {
        rp: { id: 'localhost', name: 'Aegis' },
        user: { name: actor.principal },
        attestation: 'none',
        authenticatorSelection: { userVerification: 'required' },
        excludeCredentials: [],
      },
    });
    const made = await actor.client.post(VERIFY, {
      registration: authenticator.create(begun.options),
      label: 'blue key',
    });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      credential_id: authenticator.credentialId,
      principal: actor.principal,
      label: 'blue key',
      transports: ['internal'],
      backed_up: false,
      last_used_at: null,
    });
    expect(await listOwn(actor)).toEqual([made.body]);
  });

  test('is not had without a code: 422 that says where one is had', async () => {
    const actor = await newApprover(service);
    for (const body of [undefined, {}, { code: null }]) {
      expectProblem(await actor.client.post(BEGIN, body), 422, 'invalid_request', {
        detail: expect.stringContaining('operator'),
      });
    }
  });

  test("is not had with a code that is wrong, another's, void or out of time", async () => {
    const actor = await newApprover(service);
    const another = await newApprover(service);
    const void_ = await newCode(service, actor.principal);
    const late = await newCode(service, actor.principal);
    await service.sql`update enrolment_codes set expires_at = clock_timestamp() where code_hash = ${sha256(late)}`;
    for (const code of ['wrong', await newCode(service, another.principal), void_, late]) {
      expectProblem(await actor.client.post(BEGIN, { code }), 403, INVALID);
    }
  });

  test('uses its code up', async () => {
    const actor = await newApprover(service);
    const code = await newCode(service, actor.principal);
    const begun = [await begin(actor, { code }), await begin(actor, { code })];
    const [first, second] = begun.map(({ options }) => new SoftwareAuthenticator(ORIGIN).create(options));
    expect((await actor.client.post(VERIFY, { registration: first })).status).toBe(201);
    expectProblem(await actor.client.post(VERIFY, { registration: second }), 403, INVALID);
    const [{ credential_id } = { credential_id: '' }] = await listOwn(actor);
    await actor.client.delete(`${PASSKEYS}/${credential_id}`);
    expectProblem(await actor.client.post(BEGIN, { code }), 403, INVALID);
    expectProblem(await actor.client.post(VERIFY, { registration: second }), 403, INVALID);
  });

  test('of many at once with one code, one is made', async () => {
    const actor = await newApprover(service);
    const code = await newCode(service, actor.principal);
    const begun = await Promise.all([1, 2, 3, 4].map(() => begin(actor, { code })));
    const answers = await Promise.all(
      begun.map(({ options }) =>
        actor.client.post(VERIFY, { registration: new SoftwareAuthenticator(ORIGIN).create(options) }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(await listOwn(actor)).toHaveLength(1);
  });

  test('is not made by a code that became void, or ran out, before the passkey was there', async () => {
    const actor = await newApprover(service);
    const { options } = await begin(actor, { code: await newCode(service, actor.principal) });
    await newCode(service, actor.principal);
    const registration = new SoftwareAuthenticator(ORIGIN).create(options);
    expectProblem(await actor.client.post(VERIFY, { registration }), 403, INVALID);
    expect(await listOwn(actor)).toEqual([]);
  });
});

describe('a further passkey', () => {
  test('is confirmed by an older one, over the same challenge', async () => {
    const actor = await newSigner(service);
    const begun = await begin(actor);
    expect(begun.assertion_options).toMatchObject({
      challenge: begun.options.challenge,
      userVerification: 'required',
      allowCredentials: [{ id: actor.authenticator.credentialId }],
    });
    expect(begun.options.excludeCredentials).toMatchObject([{ id: actor.authenticator.credentialId }]);
    const made = await actor.client.post(VERIFY, {
      registration: new SoftwareAuthenticator(ORIGIN).create(begun.options),
      assertion: actor.authenticator.get(begun.assertion_options),
    });
    expect(made.status).toBe(201);
    expect(await listOwn(actor)).toHaveLength(2);
  });

  test('is not had without that', async () => {
    const actor = await newSigner(service);
    const { options } = await begin(actor);
    const registration = new SoftwareAuthenticator(ORIGIN).create(options);
    expectProblem(await actor.client.post(VERIFY, { registration }), 403, 'signature_required');
    expect(await listOwn(actor)).toHaveLength(1);
  });

  test("nor with the new one's own word, another approver's, or one for something else", async () => {
    const actor = await newSigner(service);
    const another = await newSigner(service);
    const begun = await begin(actor);
    const fresh = new SoftwareAuthenticator(ORIGIN);
    const registration = fresh.create(begun.options);
    const older = actor.authenticator;
    for (const assertion of [
      fresh.get(begun.assertion_options),
      another.authenticator.get(begun.assertion_options),
      older.get((await begin(actor)).assertion_options),
      older.get(begun.assertion_options, { isUserVerified: false }),
      older.get(begun.assertion_options, { origin: 'http://localhost:1' }),
      older.get(begun.assertion_options, { counter: 0 }),
    ]) {
      expectProblem(await actor.client.post(VERIFY, { registration, assertion }), 403, INVALID);
    }
    expect(await listOwn(actor)).toHaveLength(1);
  });

  test('is not had with a code', async () => {
    const actor = await newSigner(service);
    const code = await newCode(service, actor.principal);
    expectProblem(await actor.client.post(BEGIN, { code }), 422, 'invalid_request');
  });

  test('is not had by a registration that a code began while there was none', async () => {
    const actor = await newApprover(service);
    const code = await newCode(service, actor.principal);
    const early = await begin(actor, { code });
    await register(service, actor);
    const registration = new SoftwareAuthenticator(ORIGIN).create(early.options);
    expectProblem(await actor.client.post(VERIFY, { registration }), 403, INVALID);
  });
});

describe('what an authenticator answers to a registration', () => {
  const deviations: [string, Deviation][] = [
    ['another challenge', { challenge: Buffer.alloc(32, 1).toString('base64url') }],
    ['another origin', { origin: 'https://localhost:8080' }],
    ['another relying party', { rpId: 'aegis.example' }],
    ['no verified user', { isUserVerified: false }],
    ['nobody present', { isUserPresent: false }],
    ['a frame of another origin', { crossOrigin: true }],
    ['the type of an assertion', { type: 'webauthn.get' }],
    ['another id than it made', { credentialId: 'AAAA' }],
  ];
  test.each(deviations)('is refused with %s', async (_what, deviation) => {
    const actor = await newApprover(service);
    const { options } = await begin(actor, { code: await newCode(service, actor.principal) });
    const registration = new SoftwareAuthenticator(ORIGIN).create(options, deviation);
    expectProblem(await actor.client.post(VERIFY, { registration }), 403, INVALID);
    expect(await listOwn(actor)).toEqual([]);
  });

  test('is refused with certificates, which name addresses that would be called', async () => {
    const actor = await newApprover(service);
    const { options } = await begin(actor, { code: await newCode(service, actor.principal) });
    for (const fmt of ['packed', 'apple', 'android-key', 'tpm', 'fido-u2f']) {
      const attStmt = new Map<string, Buffer>([['x5c', Buffer.from('certificate')]]);
      const registration = new SoftwareAuthenticator(ORIGIN).create(options, {}, { fmt, attStmt });
      expectProblem(await actor.client.post(VERIFY, { registration }), 403, INVALID);
    }
  });

  test('is refused when it is no attestation at all', async () => {
    const actor = await newApprover(service);
    const { options } = await begin(actor, { code: await newCode(service, actor.principal) });
    const good = new SoftwareAuthenticator(ORIGIN).create(options);
    // 8 KiB of nested arrays, and what ends too early.
    for (const bytes of [Buffer.alloc(8192, 0x81), Buffer.from([0xbf]), Buffer.from([0x1b, 0xff])]) {
      const response = { ...good.response, attestationObject: bytes.toString('base64url') };
      const answer = await actor.client.post(VERIFY, { registration: { ...good, response } });
      expectProblem(answer, 403, INVALID);
    }
    for (const transports of [['\u0000'], [''], ['x'.repeat(33)], 'usb']) {
      const response = { ...good.response, transports };
      const answer = await actor.client.post(VERIFY, { registration: { ...good, response } });
      expectProblem(answer, 422, 'invalid_request');
    }
  });

  test('is taken once, and by its own principal alone', async () => {
    const actor = await newApprover(service);
    const another = await newApprover(service);
    const { options } = await begin(actor, { code: await newCode(service, actor.principal) });
    const registration = new SoftwareAuthenticator(ORIGIN).create(options);
    expectProblem(await another.client.post(VERIFY, { registration }), 403, INVALID);
    expect((await actor.client.post(VERIFY, { registration })).status).toBe(201);
    expect((await actor.client.post(VERIFY, { registration })).status).toBe(403);
    expect(await listOwn(actor)).toHaveLength(1);
  });

  test('is not taken for a credential that is known already', async () => {
    const authenticator = new SoftwareAuthenticator(ORIGIN);
    await register(service, await newApprover(service), authenticator);
    const another = await newApprover(service);
    const { options } = await begin(another, { code: await newCode(service, another.principal) });
    const registration = authenticator.create(options);
    expectProblem(await another.client.post(VERIFY, { registration }), 422, 'invalid_request');
  });
});

describe('codes and passkeys are for', () => {
  test('operators to give, not approvers, agents or auditors', async () => {
    const path = '/v1/principals/approver-1/enrolment-codes';
    const auditor = await makeKey(service.operator, { principal: newName('auditor'), roles: ['auditor'] });
    for (const client of [service.agent, service.approver, service.as(auditor.token)]) {
      expectProblem(await client.post(path), 403, 'forbidden');
    }
  });

  test('principals that are there, and enabled', async () => {
    const path = (principal: string) => `/v1/principals/${principal}/enrolment-codes`;
    expectProblem(await service.operator.post(path(newName('nobody'))), 404, 'not_found');
    expectProblem(await service.operator.post(path('a%20b')), 404, 'not_found');
    const actor = await newApprover(service);
    const body = { groups: [], disabled: true };
    expectOk(await service.operator.call('PUT', `/v1/principals/${actor.principal}`, body));
    expectProblem(await service.operator.post(path(actor.principal)), 404, 'not_found');
  });

  test('approvers to register with: no agent and no operator', async () => {
    for (const client of [service.agent, service.operator]) {
      expectProblem(await client.post(BEGIN, {}), 403, 'forbidden');
    }
  });

  test('their own principal to see and remove, and for operators', async () => {
    const actor = await newSigner(service);
    const another = await newSigner(service);
    const path = `${PASSKEYS}/${actor.authenticator.credentialId}`;
    expectProblem(await another.client.get(`${PASSKEYS}?principal=${actor.principal}`), 403, 'forbidden');
    expectProblem(await another.client.delete(path), 404, 'not_found');
    const listed = await service.operator.get(`${PASSKEYS}?principal=${actor.principal}`);
    expectOk(listed, { items: [{ principal: actor.principal }] });
    expect((await service.operator.delete(path)).status).toBe(204);
    expectProblem(await service.operator.delete(path), 404, 'not_found');
    expect(await listOwn(actor)).toEqual([]);
    expect(await listOwn(another)).toHaveLength(1);
  });
});

test('a code is kept as its hash alone', async () => {
  const code = await newCode(service, (await newApprover(service)).principal);
  expect(code).toMatch(/^[0-9A-Za-z]{43}$/);
  const rows = await service.sql`select enrolment_codes::text as row from enrolment_codes`;
  expect(rows.some(({ row }) => row.includes(code))).toBe(false);
  expect(rows.some(({ row }) => row.includes(sha256(code)))).toBe(true);
});
