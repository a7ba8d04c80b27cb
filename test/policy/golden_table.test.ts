import { expect, test } from 'vitest';
import { type DecisionContext, SOURCE_TRUSTS, TIERS } from '../../src/core/action.ts';
import { ROLES, type Role } from '../../src/core/caller.ts';
import { EXEC_ASKS, EXEC_FALLBACKS, EXEC_SECURITIES } from '../../src/core/exec_approvals.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { ApproverAction, ApproverDecision, Decision, PolicySet } from '../../src/core/policy.ts';
import { compileRules } from '../../src/policy/compile.ts';
import { readPolicyFolder } from '../../src/policy/load.ts';
import { openRules } from '../../src/policy/open.ts';
import { POLICY_DIRECTORY, request, settle } from './support.ts';

const GOLDEN_FILE = '../../policies/golden.txt';

/** Tools that the starter set does not have, one of each kind that its general policies tell apart. */
const KINDS: [action: string, members: JsonObject][] = [
  ['read', { mutates_state: false, idempotent: true }],
  ['read, not idempotent', { mutates_state: false }],
  ['write', { mutates_state: true }],
  ['write, idempotent', { mutates_state: true, idempotent: true }],
  ['destroy', { mutates_state: true, destructive: true }],
  ['needs approval', { mutates_state: true, requires_approval: true }],
  ['permission allow', { mutates_state: true, destructive: true, permission: 'allow' }],
  ['permission ask', { mutates_state: false, idempotent: true, permission: 'ask' }],
  ['permission deny', { mutates_state: false, idempotent: true, permission: 'deny' }],
];

const refund = (amount: number): JsonObject => ({ amount, currency: 'usd' });

const CALLS: [label: string, tool: string, action: string, parameters: JsonObject][] = [
  ['crm.read_customer', 'crm', 'read_customer', { customer_id: 'c-1' }],
  ['crm.delete_customer', 'crm', 'delete_customer', { customer_id: 'c-1' }],
  ['stripe.refund 5000', 'stripe', 'refund', refund(5_000)],
  ['stripe.refund 5001', 'stripe', 'refund', refund(5_001)],
  ['stripe.refund 100001', 'stripe', 'refund', refund(100_001)],
  ['shell.exec', 'shell', 'exec', { command: 'ls' }],
  ['files.write', 'files', 'write', { path: 'a', content: 'b' }],
  ['not registered', 'github', 'merge', {}],
  ['not registered, denied', 'gitlab', 'merge', {}],
  ...KINDS.map(([action]): [string, string, string, JsonObject] => [`demo: ${action}`, 'demo', action, {}]),
];

const SITUATIONS: [label: string, change: (set: PolicySet, call: ReturnType<typeof request>) => Decision][] =
  [
    ['attended', (set, call) => settle(set, call)],
    ['unattended', (set, call) => settle(set, { ...call, context: { ...call.context, unattended: true } })],
    ['paused', (set, call) => settle(set, { ...call, paused: true })],
    ['unroutable', (set, call) => settle(set, call, { routable: false, deniedBefore: false })],
    ['rejected before', (set, call) => settle(set, call, { routable: true, deniedBefore: true })],
  ];

const ACTIONS: readonly ApproverAction[] = ['approve', 'reject', 'edit', 'widen', 'cancel'];
/** Who decides, by what they have to do with the approval. */
const STANDINGS = ['nobody to it', 'its agent', 'its owner', 'its editor', 'its voter'] as const;

async function loadSet(): Promise<PolicySet> {
  const reading = await readPolicyFolder(POLICY_DIRECTORY);
  if (reading.kind === 'refused') throw new TypeError('the policy folder cannot be read');
  const compilation = compileRules({
    base: reading.base,
    policies: {},
    tools: KINDS.map(([action, members]) => ({ tool: 'demo', action, ...members })),
    permissions: [{ pattern: 'gitlab.*', permission: 'deny' }],
  });
  if (compilation.kind === 'refused') throw new TypeError(compilation.problems[0]?.message);
  return openRules(compilation.compiled);
}

/** Decision, votes where they are more than one, what it was denied by, and the policies that decided. */
function tell(decision: Decision): string[] {
  const terms = decision.decision === 'require_approval' ? decision.terms.requirements : undefined;
  const groups = terms !== undefined && terms.groups.length > 0 ? ` ${terms.groups.join('+')}` : '';
  const votes = terms !== undefined && terms.votes > 1 ? ` ${terms.votes}${groups}` : '';
  const by = decision.decision === 'deny' && decision.denial !== null ? ` by ${decision.denial.by}` : '';
  const word = decision.decision === 'require_approval' ? 'ask' : decision.decision;
  return [`${word}${votes}${by}`, decision.determiningPolicies.join(' ') || '-'];
}

function callRows(set: PolicySet): string[][] {
  return CALLS.flatMap(([label, tool, action, parameters]) =>
    TIERS.flatMap((tier) =>
      SOURCE_TRUSTS.map((source_trust) => {
        const context: Partial<DecisionContext> = { tier, source_trust };
        return [label, tier, source_trust, ...tell(settle(set, request(tool, action, parameters, context)))];
      }),
    ),
  );
}

function situationRows(set: PolicySet): string[][] {
  return CALLS.flatMap(([label, tool, action, parameters]) =>
    SITUATIONS.map(([situation, decide]) => [
      label,
      situation,
      ...tell(decide(set, request(tool, action, parameters))),
    ]),
  );
}

function judged(decision: ApproverDecision): string {
  return decision.kind === 'permitted' ? 'permitted' : decision.code;
}

function approverRows(set: PolicySet): string[][] {
  return ACTIONS.flatMap((action) =>
    ROLES.flatMap((role) =>
      STANDINGS.map((standing) => {
        const approval = {
          approvalId: 'apr_1',
          agent: standing === 'its agent' ? 'me' : 'agent-1',
          owner: standing === 'its owner' ? 'me' : 'olga',
          editors: standing === 'its editor' ? ['me'] : [],
          resolved: { tool: 'stripe', action: 'refund' },
          environment: null,
          requiredGroups: [],
          selfApproval: [],
          hasOwnVote: standing === 'its voter',
        };
        return [
          action,
          role,
          standing,
          judged(set.judgeApprover({ action, approver: whoIs(role), approval })),
        ];
      }),
    ),
  );
}

function resumeRows(set: PolicySet): string[][] {
  return ROLES.flatMap((role) =>
    [null, 's-1'].flatMap((sessionId) =>
      (['nobody to it', 'the agent', 'its owner'] as const).map((standing) => {
        const principal = standing === 'the agent' ? 'me' : 'agent-1';
        const owner = standing === 'its owner' ? 'me' : 'olga';
        const answer = set.judgeResume({ approver: whoIs(role), agent: { principal, owner }, sessionId });
        return [sessionId === null ? 'resume agent' : 'resume session', role, standing, judged(answer)];
      }),
    ),
  );
}

function whoIs(role: Role) {
  return { principal: 'me', groups: [], roles: [role] };
}

/** Commands that an allowlist of git alone covers, does not cover, and that nothing lifts. */
const COMMANDS: [label: string, parameters: JsonObject][] = [
  ['covered', { command: 'git status', resolved_paths: ['/usr/bin/git'] }],
  ['not covered', { command: 'curl localhost', resolved_paths: ['/usr/bin/curl'] }],
  ['floor', { command: 'rm -rf /', resolved_paths: ['/usr/bin/rm'] }],
];

function execRows(set: PolicySet): string[][] {
  return EXEC_SECURITIES.flatMap((security) =>
    EXEC_ASKS.flatMap((ask) =>
      EXEC_FALLBACKS.flatMap((askFallback) =>
        COMMANDS.flatMap(([label, parameters]) =>
          [false, true].map((unattended) => {
            const allowlist = [{ id: 'git', pattern: '/usr/bin/git' }];
            const tenant = { security, ask, askFallback, autoAllowSkills: false, allowlist };
            const call = request('shell', 'exec', parameters, { unattended });
            const decision = settle(set, { ...call, exec: { tenant, node: null } });
            const attendance = unattended ? 'unattended' : 'attended';
            return [label, security, ask, askFallback, attendance, ...tell(decision)];
          }),
        ),
      ),
    ),
  );
}

/** Rows in columns as wide as their widest cell. */
function formatTable(title: string, header: string[], rows: readonly string[][]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [`## ${title}`, '', lines[0], ...lines.slice(1)].join('\n');
}

test('the starter set decides every combination as the golden table says', async () => {
  const set = await loadSet();
  const tables = [
    formatTable(
      'calls by tier and origin',
      ['call', 'tier', 'origin', 'decision', 'policies'],
      callRows(set),
    ),
    formatTable(
      'asks by what stands in their way (tier auto, trusted_internal)',
      ['call', 'situation', 'decision', 'policies'],
      situationRows(set),
    ),
    formatTable(
      'commands by exec approvals (tier auto, trusted_internal)',
      ['command', 'security', 'ask', 'fallback', 'run', 'decision', 'policies'],
      execRows(set),
    ),
    formatTable('approvals by role and standing', ['action', 'role', 'who is', 'answer'], approverRows(set)),
    formatTable('clearing a pause', ['action', 'role', 'who is', 'answer'], resumeRows(set)),
  ];
  const head = [
    'What the policies of this folder decide, one combination a line. Written by test/policy/golden_table.test.ts:',
    'a change of policy changes this file, and is read as its difference (`npx vitest -u` writes it anew).',
  ];

  await expect(`${[head.join('\n'), ...tables].join('\n\n')}\n`).toMatchFileSnapshot(GOLDEN_FILE);
});
