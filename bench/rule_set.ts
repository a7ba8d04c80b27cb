import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How many policies and tools a generated set has. */
export interface RuleSetSize {
  policies: number;
  tools: number;
}

/** Each tool has a schema of its own, as in a real registry. */
function parametersOf(index: number) {
  return {
    type: 'object',
    required: ['amount', 'currency'],
    properties: {
      amount: { type: 'integer', minimum: 0, maximum: 1_000_000 + index },
      currency: { type: 'string', enum: ['usd', 'eur', 'gbp'] },
      memo: { type: 'string', maxLength: 200 },
      [`reference_${index}`]: { type: 'string', maxLength: 100 },
    },
  };
}

/** Policies that match every tool's calls, as a set of any size has. */
const COMMON = [
  `@id("common-untrusted-changes-nothing")
@reason("a call that came from untrusted content may not change anything")
forbid (
  principal is Aegis::Agent,
  action in Aegis::Action::"write",
  resource
)
when { context.source_trust == Aegis::Trust::"untrusted" };`,
  `@id("common-unattended-does-not-destroy")
@reason("nobody watches this run")
forbid (
  principal is Aegis::Agent,
  action in Aegis::Action::"destroy",
  resource
)
when { context.unattended };`,
  `@id("common-registered-tools")
@reason("registered tools are allowed from inside")
permit (
  principal is Aegis::Agent,
  action in Aegis::Action::"invoke",
  resource
)
when
{
  context.tool.registered &&
  context.source_trust == Aegis::Trust::"trusted_internal"
};`,
];

function toolName(index: number): string {
  return `bench-${index}`;
}

/** What the policies of one tool divide among them: each is about a band of amounts, and one of them about a call's. */
const BAND = 2000;

/** So many policies of a tool are for every agent, as in the small set; the further ones name some other agent each. */
const FOR_EVERYBODY = 2;

function toolPolicy(owner: string, index: number, tools: number): string {
  const turn = Math.floor(index / tools);
  const [from, to] = [turn * BAND, (turn + 1) * BAND];
  const principal =
    turn < FOR_EVERYBODY ? 'principal is Aegis::Agent' : `principal == Aegis::Agent::"other-${turn}"`;
  return `@id("${owner}-policy-${index}")
@reason("policy ${index}: amounts from ${from} to ${to} are allowed")
permit (
  ${principal},
  action == Aegis::Action::"${toolName(index % tools)}.pay",
  resource
)
when
{
  context.parameters.amount >= ${from} &&
  context.parameters.amount < ${to} &&
  context.source_trust == Aegis::Trust::"trusted_internal"
};`;
}

/** Policies on single tools, in turn, as one text; their ids begin with whose they are. */
export function policyText(owner: string, { policies, tools }: RuleSetSize): string {
  return Array.from({ length: policies }, (_, index) => toolPolicy(owner, index, tools)).join('\n\n');
}

/** The body of an authorize call of one of the tools, which the set allows. */
export function callBody(index: number): string {
  return JSON.stringify({
    tool_call: {
      tool: toolName(index),
      action: 'pay',
      resource: 'ch_3Mmlq1LkdIwHu7ix0snN0B15',
      mutates_state: true,
      parameters: { amount: 1200, currency: 'usd', memo: 'the customer was charged twice for one order' },
    },
    context: { source_trust: 'trusted_internal', session_id: 'session-1', environment: 'production' },
  });
}

/** Writes a policy folder: the tools, the common policies and so many on single tools that all are as many as asked. */
export function writePolicyFolder({ policies, tools }: RuleSetSize): string {
  const folder = mkdtempSync(join(tmpdir(), 'aegis-bench-policies-'));
  mkdirSync(join(folder, 'tools'));
  const own = policyText('base', { policies: policies - COMMON.length, tools });
  writeFileSync(join(folder, 'bench.cedar'), `${COMMON.join('\n\n')}\n\n${own}\n`);
  for (let index = 0; index < tools; index += 1) {
    const operations = { pay: { mutates_state: true, parameters_schema: parametersOf(index) } };
    const file = { tool: toolName(index), operations };
    writeFileSync(join(folder, 'tools', `${toolName(index)}.json`), JSON.stringify(file));
  }
  return folder;
}
