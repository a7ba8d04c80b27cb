import { canonicalize } from './canonical_json.ts';
import { type Sha256Hex, sha256Hex } from './digest.ts';
import {
  type AllowlistEntry,
  type EntryUsage,
  EVERY_AGENT,
  type ExecApprovalsDocument,
  type ExecSettings,
  type ShownExecApprovals,
} from './exec_approvals.ts';
import { parsePathPattern } from './exec_approvals_pattern.ts';
import type { FaultIssue } from './fault.ts';
import { parsePrincipal } from './identifiers.ts';
import type { JsonValue } from './json.ts';
import { formatPointer } from './json_rules.ts';

/** Agents of one document, `*` among them. */
export const EXEC_AGENTS_MAX = 1_000;
/** Entries of one document, over all its agents. */
export const EXEC_ENTRIES_MAX = 10_000;

/** Why `ask_fallback` is not `full`. */
export const FULL_FALLBACK_REFUSED =
  'would run the command when nobody answers. Use `deny`, or `allowlist` for what the allowlist covers';

/** An entry as sent: the service fills in the id where it is left out. */
export interface EntryInput extends EntryUsage {
  id?: string | undefined;
  pattern: string;
}

/** A document as sent, of the right shape; whether it can be stored is `prepareExecApprovals`'s to say. */
export interface ExecApprovalsInput {
  version: 1;
  defaults: ExecSettings;
  agents: Record<string, ExecSettings & { allowlist?: EntryInput[] | undefined }>;
}

export type PreparedExecApprovals =
  | { kind: 'prepared'; document: ShownExecApprovals }
  | { kind: 'refused'; issues: FaultIssue[] };

/**
 * A document as it would be stored: agents in lower case, each entry with an id. Refused for agents that are no
 * principals or meet in lower case, for an id that two entries have, for patterns that could never match, and beyond
 * 1,000 agents or 10,000 entries; pointers are those of the document.
 */
export function prepareExecApprovals(input: ExecApprovalsInput, newId: () => string): PreparedExecApprovals {
  const issues = [...findAgentIssues(input), ...findEntryIssues(input)];
  if (issues.length > 0) return { kind: 'refused', issues };
  const agents = Object.entries(input.agents).map(([agent, { allowlist, ...settings }]) => [
    agent.toLowerCase(),
    {
      ...definedOf(settings),
      ...(allowlist && {
        allowlist: allowlist.map((entry) => ({ ...definedOf(entry), id: entry.id ?? newId() })),
      }),
    },
  ]);
  const document = { version: 1 as const, defaults: definedOf(input.defaults) };
  return { kind: 'prepared', document: { ...document, agents: Object.fromEntries(agents) } };
}

/** An object without the members that are undefined, which JSON does not have. */
function definedOf<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

function findAgentIssues({ agents }: ExecApprovalsInput): FaultIssue[] {
  const names = Object.keys(agents);
  if (names.length > EXEC_AGENTS_MAX) {
    return [{ pointer: '/agents', reason: `must not have more than ${EXEC_AGENTS_MAX} members` }];
  }
  const seen = new Set<string>();
  return names.flatMap((name) => {
    const pointer = formatPointer(['agents', name]);
    const agent = name === EVERY_AGENT ? name : parsePrincipal(name);
    if (agent === undefined) {
      return [{ pointer, reason: 'must be named `*` or with 1 to 128 of `A-Z a-z 0-9 . _ @ : -`' }];
    }
    if (seen.has(agent)) return [{ pointer, reason: 'is the same agent as another member, in lower case' }];
    seen.add(agent);
    return [];
  });
}

function findEntryIssues({ agents }: ExecApprovalsInput): FaultIssue[] {
  const entries = Object.entries(agents).flatMap(([agent, { allowlist = [] }]) =>
    allowlist.map((entry, index) => ({ entry, path: ['agents', agent, 'allowlist', index] })),
  );
  if (entries.length > EXEC_ENTRIES_MAX) {
    return [{ pointer: '/agents', reason: `must not have more than ${EXEC_ENTRIES_MAX} entries in all` }];
  }
  const seen = new Set<string>();
  return entries.flatMap(({ entry: { id, pattern }, path }) => {
    const parsed = parsePathPattern(pattern);
    const issues =
      'fault' in parsed ? [{ pointer: formatPointer([...path, 'pattern']), reason: parsed.fault }] : [];
    if (id !== undefined && seen.has(id)) {
      issues.push({ pointer: formatPointer([...path, 'id']), reason: 'is the id of another entry too' });
    }
    if (id !== undefined) seen.add(id);
    return issues;
  });
}

/** The rules of a document alone, without what became of its entries: what is stored and hashed. */
export function withoutUsage({ version, defaults, agents }: ShownExecApprovals): ExecApprovalsDocument {
  const rules = Object.entries(agents).map(([agent, { allowlist, ...settings }]) => [
    agent,
    { ...settings, ...(allowlist && { allowlist: allowlist.map(({ id, pattern }) => ({ id, pattern })) }) },
  ]);
  return { version, defaults, agents: Object.fromEntries(rules) };
}

/** SHA-256 of the canonical JSON (RFC 8785) of a document without usage. */
export function computeExecApprovalsHash(document: ShownExecApprovals): Sha256Hex {
  // By way of JSON's own form, which leaves out members that are undefined.
  const rules: JsonValue = JSON.parse(JSON.stringify(withoutUsage(document)));
  return sha256Hex(canonicalize(rules));
}

/** Every entry of a document with the agent that it is listed for. */
export function listEntries<Entry extends AllowlistEntry>({
  agents,
}: ExecApprovalsDocument<Entry>): { agent: string; entry: Entry }[] {
  return Object.entries(agents).flatMap(([agent, { allowlist = [] }]) =>
    allowlist.map((entry) => ({ agent, entry })),
  );
}

/**
 * A document with entries added to an agent's allowlist, but for patterns that it or `*` lists already. Undefined when
 * it would then have more agents or entries than a document may.
 */
export function addEntries(
  document: ExecApprovalsDocument,
  agent: string,
  entries: readonly AllowlistEntry[],
): ExecApprovalsDocument | undefined {
  const { agents } = document;
  const name = agent.toLowerCase();
  const own = Object.hasOwn(agents, name) ? agents[name] : undefined;
  const listed = [...(own?.allowlist ?? []), ...(agents[EVERY_AGENT]?.allowlist ?? [])];
  const patterns = new Set(listed.map(({ pattern }) => pattern));
  const added = entries.filter(({ pattern }) => {
    const isNew = !patterns.has(pattern);
    patterns.add(pattern);
    return isNew;
  });
  if (added.length === 0) return document;
  const more = Object.entries(agents).filter(([one]) => one !== name);
  if (more.length >= EXEC_AGENTS_MAX || listEntries(document).length + added.length > EXEC_ENTRIES_MAX) {
    return undefined;
  }
  const allowlist = [...(own?.allowlist ?? []), ...added.map(({ id, pattern }) => ({ id, pattern }))];
  return { ...document, agents: Object.fromEntries([...more, [name, { ...own, allowlist }]]) };
}
