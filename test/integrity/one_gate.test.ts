import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, test } from 'vitest';
import { createConsole } from '../../src/console/app.tsx';
import { CONSOLE_PAGES } from '../../src/console/pages/index.ts';
import { createApp } from '../../src/http/app.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { RPC_METHODS } from '../../src/http/rpc/methods/index.ts';
import { parseSourceFile } from '../support/source_file.ts';

// ONE GATE: whoever reaches storage or policy does so by way of an operation.

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Folders of `src` by which requests come in. A new one is added here, and is then looked at. */
const SURFACES = ['http', 'console', 'cli'];
/** What stands behind the gate, and what is of neither side. */
const INNER = ['analysis', 'core', 'notify', 'operations', 'policy', 'storage'];

/** Files that build the object graph, keep the database itself, or say what went wrong: no request reaches them. */
const WIRING = [
  'src/cli/database_location.ts',
  'src/cli/database_trouble.ts',
  'src/cli/describe_error.ts',
  'src/cli/demo/place.ts',
  'src/cli/first_keys.ts',
  'src/cli/housekeeping.ts',
  'src/cli/keys_command.ts',
  'src/cli/policy_folder.ts',
  'src/cli/readiness.ts',
  'src/cli/service.ts',
  'src/cli/tenant_keeper.ts',
  'src/cli/webhooks.ts',
  'src/cli/with_database.ts',
];

/** Folders of commands that people run on files, or on a database that they can reach anyway: no request does. */
const AUTHORS_COMMANDS = ['src/cli/exec_approvals/', 'src/cli/policy/', 'src/cli/tools/'];

function isWiring(path: string): boolean {
  return WIRING.includes(path) || AUTHORS_COMMANDS.some((folder) => path.startsWith(folder));
}

/** The operation behind each endpoint; null where the answer is the caller's own credential. */
const OPERATIONS: Record<string, string | null> = {
  authorize: 'authorize',
  listApprovals: 'list_approvals',
  getApproval: 'get_approval',
  getReview: 'get_approval',
  approveApproval: 'approve',
  rejectApproval: 'reject',
  editApproval: 'edit',
  cancelApproval: 'cancel',
  consumeApproval: 'consume',
  reportOutcome: 'report_outcome',
  followEvents: 'events/follow_events',
  getMe: null,
  createKey: 'create_key',
  listKeys: 'list_keys',
  revokeKey: 'revoke_key',
  createTenant: 'create_tenant',
  getPrincipal: 'get_principal',
  putPrincipal: 'put_principal',
  getSettings: 'get_settings',
  putSettings: 'put_settings',
  getExecApprovals: 'exec_approvals/get_exec_approvals',
  putExecApprovals: 'exec_approvals/put_exec_approvals',
  suggestExecApprovals: 'exec_approvals/suggest_exec_approvals',
  freezeAgent: 'freeze_agent',
  unfreezeAgent: 'unfreeze_agent',
  resumeAgent: 'resume_agent',
  getSession: 'get_session',
  putSession: 'put_session',
  resumeSession: 'resume_session',
  listDenials: 'list_denials',
  liftDenial: 'lift_denial',
  listGrants: 'list_grants',
  revokeGrant: 'revoke_grant',
  scrubOutput: 'scrub',
  getPolicies: 'rules/get_policies',
  putPolicies: 'rules/put_policies',
  validatePolicies: 'rules/validate_policies',
  simulatePolicies: 'rules/simulate_policies',
  explainDecision: 'rules/explain',
  listRevisions: 'rules/list_revisions',
  activateRevision: 'rules/activate_revision',
  listTools: 'rules/list_tools',
  putTool: 'rules/put_tool',
  deleteTool: 'rules/delete_tool',
  getToolPermissions: 'rules/get_tool_permissions',
  putToolPermissions: 'rules/put_tool_permissions',
  createEnrolmentCode: 'webauthn/create_enrolment_code',
  beginPasskeyRegistration: 'webauthn/begin_registration',
  finishPasskeyRegistration: 'webauthn/finish_registration',
  listPasskeys: 'webauthn/list_passkeys',
  removePasskey: 'webauthn/remove_passkey',
  createSignatureOptions: 'webauthn/signature_options',
  createWebhook: 'webhooks/create_webhook',
  listWebhooks: 'webhooks/list_webhooks',
  deleteWebhook: 'webhooks/delete_webhook',
  rotateWebhookSecret: 'webhooks/rotate_webhook_secret',
  listWebhookDeliveries: 'webhooks/list_deliveries',
  redeliverWebhookDelivery: 'webhooks/redeliver',
};

/** The operation behind each method of JSON-RPC. */
const RPC_OPERATIONS: Record<string, string> = {
  'exec.approval.request': 'rpc/request_command',
  'exec.approval.waitDecision': 'get_approval',
  'exec.approval.resolve': 'rpc/resolve_command',
  'exec.approvals.pending': 'rpc/list_pending_commands',
  'exec.approvals.get': 'exec_approvals/get_exec_approvals',
  'exec.approvals.set': 'exec_approvals/put_exec_approvals',
  'exec.approvals.node.get': 'exec_approvals/get_exec_approvals',
  'exec.approvals.node.set': 'exec_approvals/put_exec_approvals',
};

/** The operations by which the console's frame lets people in and out; its pages name their own. */
const FRAME_OPERATIONS: Record<string, string[]> = {
  '/console/sign-in': ['console/sign_in', 'console/find_session'],
  '/console/sign-out': ['console/sign_out'],
  '/console/oidc/start': ['console/oidc_login'],
  '/console/oidc/callback': ['console/oidc_login', 'console/sign_in_by_oidc'],
  '/console/events': ['events/follow_events', 'console/watch_session'],
};
/** Files, which are the same for everybody. */
const ASSETS = '/console/assets/:version/:name';

/** Endpoints without a credential: they tell of the service, never of what it keeps. */
const OPEN_PATHS = ['/livez', '/readyz', '/metrics', '/openapi.json', '/docs'];
/** Where connections are opened, with a credential; a request that is none of that is told so. */
const RPC_PATH = '/v1/rpc';

function readFiles(folder: string): { path: string; text: string }[] {
  return readdirSync(`${ROOT}src/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `src/${folder}/${name}`)
    .map((path) => ({ path, text: readFileSync(ROOT + path, 'utf8') }));
}

/** What a file takes from behind the gate by itself. */
function findBypasses(path: string, text: string): string[] {
  const imported = parseSourceFile(path, text).imports.map(({ specifier }) => specifier);
  return [
    ...imported.filter((specifier) =>
      /^src\/(storage|policy)\/|^(postgres|drizzle-orm)|^@cedar-policy\//.test(
        specifier.startsWith('.') ? join(dirname(path), specifier) : specifier,
      ),
    ),
    ...findPortUses(path, text),
  ];
}

/** Members of the operations' dependencies that a file uses itself, instead of handing them all to an operation. */
function findPortUses(path: string, text: string): string[] {
  const uses: string[] = [];
  new Visitor({
    MemberExpression: ({ object, start, end }) => {
      const isDeps =
        (object.type === 'Identifier' && object.name === 'deps') ||
        (object.type === 'MemberExpression' && /\.deps$/.test(text.slice(object.start, object.end)));
      if (isDeps) uses.push(text.slice(start, end));
    },
    VariableDeclarator: ({ id, init, start, end }) => {
      if (id.type === 'ObjectPattern' && init !== null && /\bdeps$/.test(text.slice(init.start, init.end))) {
        uses.push(text.slice(start, end));
      }
    },
  }).visit(parseSync(path, text).program);
  return uses;
}

describe('a surface', () => {
  test('is every folder that is not behind the gate', () => {
    const folders = readdirSync(`${ROOT}src`, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(folders.toSorted()).toStrictEqual([...SURFACES, ...INNER].toSorted());
  });

  test('reaches storage and policy by operations alone, but for the files that wire them', () => {
    const bypasses = SURFACES.flatMap(readFiles)
      .filter(({ path }) => !isWiring(path))
      .flatMap(({ path, text }) => findBypasses(path, text).map((use) => `${path}: ${use}`));
    expect(bypasses).toStrictEqual([]);
  });

  test('has no wiring listed that wires nothing', () => {
    const idle = readFiles('cli')
      .filter(({ path }) => WIRING.includes(path))
      .filter(({ path, text }) => findBypasses(path, text).length === 0);
    expect(idle.map(({ path }) => path)).toStrictEqual([]);
  });
});

test.each([
  "import { createStore } from '../storage/store.ts';",
  "import { loadPolicySet } from '../policy/load.ts';",
  "const { sql } = await import('postgres');",
  'export const handle = ({ deps }) => deps.approvals.find("t", "a");',
  'export const handle = (input) => input.deps.keys.listKeys("t");',
  'const { approvals } = options.deps;',
])('the reader of surfaces finds the bypass in: %s', (text) => {
  expect(findBypasses('src/http/x.ts', text)).toHaveLength(1);
});

/** The operations that the files of a folder import, by their path below `src/operations`. */
function operationsUsedIn(files: { path: string; text: string }[]): Set<string> {
  const specifiers = files.flatMap(({ path, text }) => parseSourceFile(path, text).imports);
  const names = specifiers.map(({ specifier }) => /\/operations\/(.*)\.ts$/.exec(specifier)?.[1]);
  return new Set(names.filter((name) => name !== undefined));
}

describe('every page of the console', () => {
  const files = readFiles('console');
  const isOfPage = ({ path }: { path: string }) => path.startsWith('src/console/pages/');

  test('calls the operation that it names', () => {
    const used = operationsUsedIn(files.filter(isOfPage));
    const named = CONSOLE_PAGES.map(({ operation }) => operation).filter((operation) => operation !== null);
    expect(named.filter((operation) => !used.has(operation))).toStrictEqual([]);
    expect(named.length).toBeGreaterThan(5);
  });

  test('that is of the frame calls those listed, and the frame no other', () => {
    const used = operationsUsedIn(files.filter((file) => !isOfPage(file)));
    // What counts attempts and what types are of is no operation of a page.
    for (const name of ['deps', 'attempts']) used.delete(name);
    expect(used).toStrictEqual(new Set(Object.values(FRAME_OPERATIONS).flat()));
  });

  test('that is served is one of these', () => {
    const app = createConsole({
      ...{ deps: undefined as never, trustedProxies: [], oidc: undefined, files: new Map() },
      ...{ stopping: new AbortController().signal, newSecret: () => '' },
      log: { warn: () => undefined, error: () => undefined },
      publicUrl: { get: () => 'http://localhost', isConfigured: false },
    });
    const listed = [...CONSOLE_PAGES.map(({ path }) => path), ...Object.keys(FRAME_OPERATIONS), ASSETS];
    const served = app.routes.map(({ path }) => path);
    expect(new Set(served)).toStrictEqual(new Set([...listed, '/console/*']));
  });
});

describe('every endpoint', () => {
  test('is listed with its operation, and no other is', () => {
    const served = ROUTES.map(({ operationId }) => operationId);
    expect(served.toSorted()).toStrictEqual(Object.keys(OPERATIONS).toSorted());
  });

  test('calls the operation it is listed with', () => {
    const routeFiles = readFiles('http/routes');
    for (const [operationId, operation] of Object.entries(OPERATIONS)) {
      const file = routeFiles.find(({ text }) => text.includes(`operationId: '${operationId}'`));
      expect(file, operationId).toBeDefined();
      const imported = parseSourceFile('route.ts', file?.text ?? '').imports.map(
        ({ specifier }) => specifier,
      );
      const expected = operation === null ? [] : [`../../operations/${operation}.ts`];
      expect(imported, operationId).toEqual(expect.arrayContaining(expected));
    }
  });

  test('of json-rpc is listed with its operation, no other is, and it calls that one', () => {
    expect(RPC_METHODS.map(({ name }) => name).toSorted()).toStrictEqual(
      Object.keys(RPC_OPERATIONS).toSorted(),
    );
    const methodFiles = readFiles('http/rpc/methods');
    for (const [method, operation] of Object.entries(RPC_OPERATIONS)) {
      const file = methodFiles.find(({ text }) => text.includes(`name: '${method}'`));
      const imported = parseSourceFile('method.ts', file?.text ?? '').imports.map(
        ({ specifier }) => specifier,
      );
      expect(imported, method).toContain(`../../../operations/${operation}.ts`);
    }
  });

  test('that the app serves is one of these, or open', () => {
    const app = createApp({
      deps: undefined as never,
      trustedProxies: [],
      stopping: new AbortController().signal,
      log: { warn: () => undefined, error: () => undefined } as never,
      readiness: async () => ({ checks: {}, policyRevision: '', policyProblem: null }),
      metricsText: async () => '',
      metricsToken: undefined,
    });
    const listed = [...ROUTES.map(({ path }) => path), ...OPEN_PATHS, RPC_PATH];
    const served = app.routes.map(({ path }) => path);
    expect(new Set(served)).toStrictEqual(new Set(listed));
  });

  test('that Slack calls reaches approvals by the operations of a vote alone', () => {
    const operationsOf = (folder: string) =>
      readFiles(folder)
        .flatMap(({ path, text }) => parseSourceFile(path, text).imports)
        .map(({ specifier }) => specifier.split('/operations/')[1])
        .filter((operation) => operation !== undefined);
    expect(new Set(operationsOf('http/callbacks'))).toStrictEqual(
      new Set(['deps.ts', 'slack/answers.ts', 'slack/decide.ts']),
    );
    const decide = readFiles('operations/slack').find(({ path }) => path.endsWith('/decide.ts'));
    const imported = parseSourceFile('decide.ts', decide?.text ?? '').imports;
    expect(imported.map(({ specifier }) => specifier)).toEqual(
      expect.arrayContaining(['../approve.ts', '../reject.ts', '../attempts.ts']),
    );
  });

  test('has an operation that no other file of operations stands in for', () => {
    const known = new Set([
      ...Object.values(OPERATIONS),
      ...Object.values(RPC_OPERATIONS),
      ...CONSOLE_PAGES.map(({ operation }) => operation),
    ]);
    const takingCallers = readFiles('operations')
      .filter(({ text }) =>
        /^export (async )?function \w+\(\n? *deps: [^,]+,\n? *(caller|maker): /m.test(text),
      )
      .map(({ path }) => path.slice('src/operations/'.length, -'.ts'.length));
    const helpers = [
      'access',
      'attempts',
      'decidability',
      'frozen_call',
      'idempotent',
      'measure_vote',
      'permit_resume',
      'record_shown',
      'rules/change_rules',
      'transition',
      'watch_key',
      'webauthn/vote_proof',
    ];
    expect(takingCallers.filter((name) => !known.has(name) && !helpers.includes(name))).toStrictEqual([]);
  });
});
