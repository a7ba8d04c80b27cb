import { request } from 'node:http';
import { RE2JS } from 're2js';
import { afterAll, describe, expect, test } from 'vitest';
import { PRINCIPAL_NAME } from '../../src/core/identifiers.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { authorize, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import { expectProblem, UNKNOWN_APPROVAL } from './support.ts';

const METRICS_TOKEN = 'metrics-token';
const service = await startTestService({ env: { AEGIS_METRICS_TOKEN: METRICS_TOKEN } });
afterAll(() => service.close());

const OPEN_PATHS = ['/livez', '/readyz', '/metrics', '/openapi.json', '/docs'];

/** A GET with headers that fetch would not send, such as `Host`. */
function getRaw(path: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${service.url}${path}`, { headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end();
  });
}

describe('health', () => {
  test('/livez says that it lives', async () => {
    const answer = await service.anonymous.get('/livez');
    expect(answer.status).toBe(200);
  });

  test('/readyz is ready and names the revision that decides', async () => {
    const answer = await service.anonymous.get('/readyz');
    const decided = await authorize(service.agent, refund(1));
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      policy_revision: decided.body.policy_revision,
      checks: { database: 'ok', migrations: 'ok', policy: 'ok' },
    });
  });

  test('/readyz is 503 while another revision is active, and /livez is not', async () => {
    const [tenant] = await service.sql`select active_revision from tenants where tenant_id = 'default'`;
    await service.sql`update tenants set active_revision = ${'0'.repeat(64)}`;
    try {
      const answer = await service.anonymous.get('/readyz');
      expectProblem(answer, 503, 'unavailable');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expectProblem(await authorize(service.agent, refund(1)), 503, 'unavailable');
      expect((await service.anonymous.get('/livez')).status).toBe(200);
    } finally {
      await service.sql`update tenants set active_revision = ${tenant?.active_revision}`;
    }
    expect((await service.anonymous.get('/readyz')).status).toBe(200);
  });
});

describe('/metrics', () => {
  test('from loopback, in Prometheus’ text format, with the names of the contract', async () => {
    await service.agent.post(`/v1/approvals/${UNKNOWN_APPROVAL}/consume`);
    const answer = await service.anonymous.get('/metrics');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    for (const name of ['approval_hash_mismatch_total', 'approval_consume_refused_total']) {
      expect(answer.text).toContain(`# TYPE ${name} counter`);
    }
    expect(answer.text).toMatch(/^approval_consume_refused_total\{code="not_found"\} \d+$/m);
    expect(answer.text).toMatch(/^process_resident_memory_bytes \d/m);
  });

  test('no id and no path as sent becomes a label', async () => {
    await service.agent.get(`/v1/approvals/${UNKNOWN_APPROVAL}`);
    await service.agent.get('/nothing-is-here');
    const { text } = await service.anonymous.get('/metrics');
    expect(text).not.toContain(UNKNOWN_APPROVAL.slice(4));
    expect(text).not.toContain('nothing-is-here');
  });

  const port = new URL(service.url).port;
  const LOCAL = [`127.0.0.1:${port}`, 'localhost', 'LOCALHOST:80'];
  const ELSEWHERE: Record<string, string>[] = [
    { host: 'metrics.example.com' },
    { host: `127.0.0.1.example.com:${port}` },
    ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'forwarded', 'via', 'x-real-ip'].map(
      (name) => ({
        host: `127.0.0.1:${port}`,
        [name]: name === 'forwarded' ? 'for=127.0.0.1' : '127.0.0.1',
      }),
    ),
  ];

  test.each(LOCAL)('Host %s is loopback', async (host) => {
    expect((await getRaw('/metrics', { host })).status).toBe(200);
  });

  test.each(ELSEWHERE)('%j is not: 401, unless it has the token', async (headers) => {
    for (const authorization of [
      undefined,
      'Bearer wrong',
      `Basic ${METRICS_TOKEN}`,
      `Bearer ${service.tokens.OPERATOR}`,
    ]) {
      const answer = await getRaw('/metrics', { ...headers, ...(authorization && { authorization }) });
      expect(answer.status).toBe(401);
      expect(JSON.parse(answer.text).code).toBe('unauthenticated');
      expect(answer.text).not.toContain('approval_');
    }
    const allowed = await getRaw('/metrics', { ...headers, authorization: `Bearer ${METRICS_TOKEN}` });
    expect(allowed.status).toBe(200);
  });

  test('the token of the metrics opens nothing else', async () => {
    expectProblem(await service.as(METRICS_TOKEN).get('/v1/me'), 401, 'unauthenticated');
  });
});

describe('the documents', () => {
  test('/openapi.json is 3.1 and has every route, its success and its problems', async () => {
    const answer = await service.anonymous.get('/openapi.json');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.body.openapi).toMatch(/^3\.1\./);
    for (const { path, method, success, operationId } of ROUTES) {
      const operation = answer.body.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method];
      expect(operation, `${method} ${path}`).toBeDefined();
      expect(operation.operationId).toBe(operationId);
      expect(Object.keys(operation.responses)).toEqual(
        expect.arrayContaining([String(success.status), '401', '403', '429', '503']),
      );
      expect(operation.responses['401'].content).toHaveProperty(['application/problem+json']);
    }
    for (const path of OPEN_PATHS) expect(answer.body.paths[path]?.get, path).toBeDefined();
  });

  test('/openapi.json has no pattern that linear-time engines, such as those of Go and Rust, cannot read', async () => {
    const { text } = await service.anonymous.get('/openapi.json');
    const patterns = [...text.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(([, found]) =>
      JSON.parse(found ?? ''),
    );
    expect(patterns).toContain(PRINCIPAL_NAME.source);
    for (const pattern of new Set(patterns)) expect(() => RE2JS.compile(pattern), pattern).not.toThrow();
  });

  test('every route of the contract is served', () => {
    expect(ROUTES.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(
      [
        'DELETE /v1/denials/:id',
        'DELETE /v1/grants/:id',
        'DELETE /v1/keys/:id',
        'DELETE /v1/tools/:tool/:action',
        'GET /v1/agents/:agent/sessions/:session_id',
        'GET /v1/approvals',
        'GET /v1/approvals/:id',
        'GET /v1/approvals/:id/review',
        'GET /v1/denials',
        'GET /v1/exec-approvals',
        'GET /v1/events',
        'GET /v1/webhooks',
        'POST /v1/webhooks',
        'DELETE /v1/webhooks/:id',
        'POST /v1/webhooks/:id/rotate',
        'GET /v1/webhooks/:id/deliveries',
        'POST /v1/webhooks/:id/deliveries/:delivery_id/redeliver',
        'POST /v1/principals/:id/enrolment-codes',
        'POST /v1/webauthn/registrations',
        'POST /v1/webauthn/registrations/verify',
        'GET /v1/webauthn/passkeys',
        'DELETE /v1/webauthn/passkeys/:id',
        'POST /v1/approvals/:id/signature-options',
        'GET /v1/exec-approvals/suggestions',
        'GET /v1/grants',
        'GET /v1/keys',
        'GET /v1/me',
        'GET /v1/policies',
        'GET /v1/policies/revisions',
        'GET /v1/principals/:id',
        'GET /v1/settings',
        'GET /v1/tool-permissions',
        'GET /v1/tools',
        'POST /v1/agents/:agent/freeze',
        'POST /v1/agents/:agent/resume',
        'POST /v1/agents/:agent/sessions/:session_id/resume',
        'POST /v1/agents/:agent/unfreeze',
        'POST /v1/approvals/:id/approve',
        'POST /v1/approvals/:id/cancel',
        'POST /v1/approvals/:id/consume',
        'POST /v1/approvals/:id/edit',
        'POST /v1/approvals/:id/outcome',
        'POST /v1/approvals/:id/reject',
        'POST /v1/authorize',
        'POST /v1/keys',
        'POST /v1/policies/explain',
        'POST /v1/policies/revisions/:revision/activate',
        'POST /v1/policies/simulate',
        'POST /v1/policies/validate',
        'POST /v1/scrub',
        'POST /v1/tenants',
        'PUT /v1/agents/:agent/sessions/:session_id',
        'PUT /v1/exec-approvals',
        'PUT /v1/policies',
        'PUT /v1/principals/:id',
        'PUT /v1/settings',
        'PUT /v1/tool-permissions',
        'PUT /v1/tools/:tool/:action',
      ].sort(),
    );
  });

  test('/docs is a page that names every path and loads nothing', async () => {
    const answer = await service.anonymous.get('/docs');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    expect(answer.headers.get('content-security-policy')).toMatch(/default-src 'none'/);
    for (const { path } of ROUTES) expect(answer.text).toContain(path.replace(/:(\w+)/g, '{$1}'));
    expect(answer.text).not.toMatch(/<script|src=|url\(/);
  });
});

describe('paths and methods', () => {
  test.each(OPEN_PATHS)('%s is open without a credential, and with a wrong one', async (path) => {
    expect((await service.anonymous.get(path)).status).toBe(200);
    expect((await service.as('wrong').get(path)).status).toBe(200);
  });

  test.each([
    '/',
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/me/',
    '/v1/approvals/x/y/z',
    '/V1/me',
    '/v1/callbacks/slack',
  ])('%s is not served: 404 before authentication', async (path) => {
    expectProblem(await service.anonymous.get(path), 404, 'not_found');
    expectProblem(await service.agent.post(path, {}), 404, 'not_found');
  });

  test.each([
    ['PUT', '/v1/authorize', 'POST'],
    ['GET', '/v1/authorize', 'POST'],
    ['DELETE', '/v1/me', 'GET, HEAD'],
    ['PATCH', `/v1/approvals/${UNKNOWN_APPROVAL}`, 'GET, HEAD'],
    ['PUT', '/v1/keys', 'POST, GET, HEAD'],
    ['POST', '/livez', 'GET, HEAD'],
  ])('%s %s is 405 with Allow', async (method, path, allow) => {
    const answer = await service.agent.call(method, path);
    expectProblem(answer, 405, 'method_not_allowed');
    const methods = (header: string | null) => header?.split(', ').sort();
    expect(methods(answer.headers.get('allow'))).toEqual(methods(allow));
  });
});
