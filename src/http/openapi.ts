import { STATUS_CODES } from 'node:http';
import * as z from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import type { FaultCode } from '../core/fault.ts';
import { problemCodesOf } from './problem_codes.ts';
import { PROBLEM_TABLE } from './problem_table.ts';
import type { AnyRoute, RouteHeader } from './route.ts';
import { ROUTES } from './routes/index.ts';
import { RPC_PATH, RPC_PROTOCOL } from './rpc/handshake.ts';
import { RPC_METHODS } from './rpc/methods/index.ts';
import { approvalEventOutput } from './schemas/event.ts';
import { problemOutput } from './schemas/problem.ts';

const HEADER_SCHEMAS: Record<RouteHeader, z.ZodType> = {
  'if-match': z
    .string()
    .optional()
    .meta({ description: 'the `ETag` of what was read, one strong tag such as `"1"`' }),
  'idempotency-key': z.string().optional().meta({
    description: 'a key of your own, quoted or bare; the first answer under it is given again for 24 hours',
  }),
  'last-event-id': z.string().optional().meta({
    description: 'the `id` of the last event that arrived; those after it are told',
  }),
  prefer: z.string().optional().meta({ description: '`wait=N`, seconds, as `?wait=`' }),
};

/** The statuses of a code; `action_hash_mismatch` is 422 where the caller contradicts itself. */
function statusesOf(code: FaultCode, route: AnyRoute): number {
  const isOwnHash = code === 'action_hash_mismatch' && route.attempts === undefined;
  return isOwnHash ? 422 : PROBLEM_TABLE[code].status;
}

function problemResponses(route: AnyRoute): Record<string, object> {
  const codesByStatus = new Map<number, FaultCode[]>();
  for (const code of problemCodesOf(route)) {
    const status = statusesOf(code, route);
    codesByStatus.set(status, [...(codesByStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...codesByStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\``).join(', '),
        content: { 'application/problem+json': { schema: problemOutput(codes) } },
      },
    ]),
  );
}

/** The names of a path's parameters, in order. */
function parameterNames(path: string): string[] {
  return [...path.matchAll(/:([a-z_]+)/g)].map(([, name]) => name as string);
}

function pathParameters(route: AnyRoute): z.ZodObject | undefined {
  const names = parameterNames(route.path);
  if (names.length === 0) return undefined;
  const idKind = route.path.startsWith('/v1/keys') ? 'key' : 'approval';
  const describe = (name: string) => route.params?.[name] ?? `the ${idKind}'s id`;
  return z.object(
    Object.fromEntries(names.map((name) => [name, z.string().meta({ description: describe(name) })])),
  );
}

/** Bytes of any kind (OpenAPI 3.1 §4.8.14.4 has no schema for them but that of a text). */
function rawContent(mediaTypes: readonly string[]) {
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema: { type: 'string' as const } }]));
}

function requestOf(route: AnyRoute): Pick<ZodOpenApiOperationObject, 'requestParams' | 'requestBody'> {
  const path = pathParameters(route);
  const header =
    route.headers && z.object(Object.fromEntries(route.headers.map((name) => [name, HEADER_SCHEMAS[name]])));
  return {
    requestParams: {
      ...(path && { path }),
      ...(header && { header }),
      ...(route.query && { query: route.query as z.ZodObject }),
    },
    ...(route.rawBodyTypes && { requestBody: { required: false, content: rawContent(route.rawBodyTypes) } }),
    ...(route.body && {
      requestBody: {
        required: route.bodyOptional !== true,
        content: { 'application/json': { schema: route.body } },
      },
    }),
  };
}

/** What a success holds; a route may offer a text beside JSON. */
function successContent({ schema, alternative }: AnyRoute['success']) {
  return {
    'application/json': { ...(schema && { schema }) },
    ...(alternative !== undefined && rawContent([alternative])),
  };
}

function operationOf(route: AnyRoute): ZodOpenApiOperationObject {
  const { success } = route;
  const roles = route.roles === 'any' ? 'any role' : `role ${route.roles.join(' or ')}`;
  const headers = Object.fromEntries(
    Object.entries(success.headers ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' as const } },
    ]),
  );
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: [route.description, `Needs ${roles}.`].filter(Boolean).join(' '),
    security: [{ bearer: [] }],
    ...requestOf(route),
    responses: {
      [success.status]: {
        description: success.description ?? STATUS_CODES[success.status],
        headers,
        ...(success.schema && { content: successContent(success) }),
        ...(success.stream !== undefined && { content: rawContent([success.stream]) }),
        ...(success.isRaw && { content: rawContent(route.rawBodyTypes ?? []) }),
      },
      ...problemResponses(route),
    },
  };
}

const text = (description: string, mediaType: string) => ({
  description,
  content: { [mediaType]: { schema: { type: 'string' as const } } },
});

const problemOf = (codes: FaultCode[]) => ({
  description: codes.join(', '),
  content: { 'application/problem+json': { schema: problemOutput(codes) } },
});

/** What opening a connection may be refused with, by status. */
const RPC_REFUSALS: readonly [FaultCode, ...FaultCode[]][] = [
  ['bad_request'],
  ['unauthenticated'],
  ['agent_frozen', 'forbidden'],
  ['invalid_request'],
  ['throttled'],
  ['header_too_large'],
  ['internal_error'],
  ['unavailable'],
];

const checks = z.record(z.string(), z.string());

/** The endpoints open without a credential. */
const OPEN_PATHS: ZodOpenApiPathsObject = {
  '/livez': {
    get: {
      operationId: 'getLiveness',
      summary: 'Whether the process serves',
      security: [],
      responses: {
        200: {
          description: 'it does',
          content: { 'application/json': { schema: z.strictObject({ status: z.literal('live') }) } },
        },
      },
    },
  },
  '/readyz': {
    get: {
      operationId: 'getReadiness',
      summary: 'Whether it can decide: database, migrations, policy',
      security: [],
      responses: {
        200: {
          description: 'it can',
          content: {
            'application/json': {
              schema: z.strictObject({
                status: z.literal('ready'),
                policy_revision: z.string(),
                policy_problem: z.string().nullable().meta({
                  description: 'why the policy folder as it is now does not decide; the former rules do',
                }),
                checks,
              }),
            },
          },
        },
        503: problemOf(['unavailable']),
      },
    },
  },
  '/metrics': {
    get: {
      operationId: 'getMetrics',
      summary: 'Metrics for Prometheus; from loopback, or with the metrics token',
      security: [{}, { bearer: [] }],
      responses: { 200: text('the metrics', 'text/plain'), 401: problemOf(['unauthenticated']) },
    },
  },
  '/openapi.json': {
    get: {
      operationId: 'getOpenApi',
      summary: 'This document',
      security: [],
      responses: {
        200: {
          description: 'OpenAPI 3.1',
          content: { 'application/json': { schema: { type: 'object' as const } } },
        },
      },
    },
  },
  '/docs': {
    get: {
      operationId: 'getDocs',
      summary: 'This document as a page',
      security: [],
      responses: { 200: text('the page', 'text/html') },
    },
  },
};

/** What is spoken on the one path that is no request and answer; its messages have no form in this document but text. */
function rpcPaths(): ZodOpenApiPathsObject {
  const methods = RPC_METHODS.map(
    ({ name, summary, roles }) => `- \`${name}\`: ${summary} (role ${roles.join(' or ')})`,
  );
  const refusals: Record<string, object> = {};
  for (const codes of RPC_REFUSALS) refusals[PROBLEM_TABLE[codes[0]].status] = problemOf(codes);
  return {
    [RPC_PATH]: {
      get: {
        operationId: 'openRpc',
        summary: 'Speak JSON-RPC 2.0 over WebSocket',
        description: [
          `Opens a connection (RFC 6455) with the credential in \`Authorization\` or, for browsers, as the subprotocol \`aegis.bearer.<token>\` offered beside \`${RPC_PROTOCOL}\`. A page must be of the host that it connects to. Methods:`,
          ...methods,
          'Approvers are sent the notifications `exec.approval.requested` and `exec.approval.resolved`. Errors carry the problem that the same fault is over HTTP as `data`.',
        ].join('\n'),
        security: [{ bearer: [] }],
        responses: { 101: { description: 'the connection is open' }, ...refusals },
      },
    },
  };
}

/** The public form of the wire contract (OpenAPI 3.1), made from the very routes and schemas that serve. */
export function buildOpenApiDocument() {
  const paths: ZodOpenApiPathsObject = { ...OPEN_PATHS, ...rpcPaths() };
  for (const route of ROUTES) {
    const path = route.path.replaceAll(/:([a-z_]+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: operationOf(route) };
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Aegis',
      version: '1',
      description:
        'An approval gate for the actions of AI agents: what is approved is what runs, exactly once.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { ApprovalEvent: approvalEventOutput },
    },
    paths,
  });
}
