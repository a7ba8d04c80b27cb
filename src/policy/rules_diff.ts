import { canonicalize } from '../core/canonical_json.ts';
import type { JsonObject, JsonValue } from '../core/json.ts';
import type { BaseRules, PolicyTexts } from '../core/rules.ts';
import { parsePolicy } from './cedar.ts';
import { computeActionId } from './operation.ts';
import { diffLines } from './text_diff.ts';

export interface ChangedPolicy {
  id: string;
  /** False when only its form changed: Cedar reads both texts to the same policy. */
  meansOther: boolean;
  /** Lines that begin with a space, `-` or `+`. */
  diff: string[];
}

export interface ChangedTool {
  /** Id of its Cedar action. */
  action: string;
  members: { name: string; from: JsonValue; to: JsonValue }[];
}

export interface RulesDiff {
  policies: { added: string[]; removed: string[]; changed: ChangedPolicy[] };
  tools: { added: string[]; removed: string[]; changed: ChangedTool[] };
}

/** What differs between two sets of rules: policies by id, tools by their action. Everything in order of names. */
export function diffRules(from: BaseRules, to: BaseRules): RulesDiff {
  return { policies: diffPolicies(from.policies, to.policies), tools: diffTools(from.tools, to.tools) };
}

function diffPolicies(from: PolicyTexts, to: PolicyTexts): RulesDiff['policies'] {
  const changed = Object.keys(from)
    .filter((id) => Object.hasOwn(to, id) && from[id] !== to[id])
    .toSorted()
    .map((id): ChangedPolicy => {
      const [before = '', after = ''] = [from[id], to[id]];
      return { id, meansOther: meaning(before) !== meaning(after), diff: diffLines(before, after) };
    });
  return { ...namesOnly(from, to), changed };
}

/** A policy as Cedar reads it, annotations included, as a text to compare. */
function meaning(text: string): string {
  const parsed = parsePolicy(text);
  return parsed.kind === 'ok' ? JSON.stringify(parsed.value) : text;
}

function diffTools(from: readonly JsonObject[], to: readonly JsonObject[]): RulesDiff['tools'] {
  const [before, after] = [byAction(from), byAction(to)];
  const changed = Object.keys(before)
    .filter((action) => Object.hasOwn(after, action))
    .toSorted()
    .map((action) => ({ action, members: diffMembers(before[action] ?? {}, after[action] ?? {}) }))
    .filter(({ members }) => members.length > 0);
  return { ...namesOnly(before, after), changed };
}

function byAction(tools: readonly JsonObject[]): Record<string, JsonObject> {
  return Object.fromEntries(
    tools.map((tool) => [computeActionId(String(tool.tool), String(tool.action)), tool]),
  );
}

function diffMembers(from: JsonObject, to: JsonObject): ChangedTool['members'] {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].toSorted();
  return names
    .map((name) => ({ name, from: from[name] ?? null, to: to[name] ?? null }))
    .filter((member) => canonicalize(member.from) !== canonicalize(member.to));
}

function namesOnly(from: object, to: object): { added: string[]; removed: string[] } {
  return {
    added: Object.keys(to)
      .filter((name) => !Object.hasOwn(from, name))
      .toSorted(),
    removed: Object.keys(from)
      .filter((name) => !Object.hasOwn(to, name))
      .toSorted(),
  };
}
