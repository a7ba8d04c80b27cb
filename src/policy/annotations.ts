import { GROUP_NAME } from '../core/identifiers.ts';
import { findNearestName } from '../core/nearest_name.ts';
import { type ApproverDecision, type Denial, SCOPES, type Scope, type SelfApproval } from '../core/policy.ts';
import type { PolicyJson } from './cedar.ts';
import { findForbiddenCharacter } from './policy_text.ts';

/** What one policy's annotations demand of a call that it makes an ask. */
export interface AskAnnotations {
  votes: number;
  groups: string[];
  ttlSeconds: number | null;
  maxScope: Scope;
  signature: 'none' | 'webauthn';
  selfApproval: SelfApproval[];
}

export type ApproverCode = Extract<ApproverDecision, { kind: 'refused' }>['code'];

/** What the service knows of a policy beside its conditions. Plain JSON: it is handed from thread to thread. */
export interface PolicyFacts {
  id: string;
  effect: 'permit' | 'forbid';
  /** The terms of the ask; null on a policy that is none. */
  ask: AskAnnotations | null;
  reason: string | null;
  deniedBy: Denial['by'] | null;
  code: ApproverCode | null;
  /** All of them, as written. */
  annotations: Record<string, string>;
}

export interface AnnotationFault {
  message: string;
  help: string;
}

/** Where an annotation means something: on asks (permits with `@decision`), on forbids, or on every policy. */
type Place = 'ask' | 'forbid' | 'any';

interface Rule {
  place: Place;
  isValid: (value: string) => boolean;
  /** What a value has to be, as the end of the sentence "write …". */
  expected: string;
}

/** What a forbid can say that it denies by; where several apply, the first of these is what is told. */
export const DENIED_BY: readonly Denial['by'][] = ['floor', 'ledger', 'pause', 'unattended', 'unroutable'];
const CODES: readonly string[] = ['self_approval_forbidden', 'approver_not_eligible', 'scope_not_allowed'];
const SELF_APPROVALS: Record<string, SelfApproval[]> = {
  owner: ['owner'],
  editor: ['editor'],
  any: ['agent', 'editor', 'owner'],
};

/** Votes and groups an ask can demand at most. */
export const VOTES_MAX = 10;

/** A name further away than this is no slip of the hand. */
const SLIPS_MAX = 2;

const RULES: Record<string, Rule> = {
  id: { place: 'any', isValid: isPolicyId, expected: 'a kebab-case name such as "refund-needs-approval"' },
  decision: {
    place: 'any',
    isValid: (value) => value === 'require_approval',
    expected: '@decision("require_approval"), or leave it out',
  },
  groups: {
    place: 'ask',
    isValid: areGroups,
    expected: `1 to ${VOTES_MAX} different group names joined by commas`,
  },
  votes: { place: 'ask', isValid: isVotes, expected: `a whole number from 1 to ${VOTES_MAX}` },
  ttl_seconds: {
    place: 'ask',
    isValid: (value) => /^[1-9][0-9]{0,8}$/.test(value),
    expected: 'a whole number of seconds above zero',
  },
  max_scope: {
    place: 'ask',
    isValid: (value) => SCOPES.some((scope) => scope === value),
    expected: 'once, run, session or window',
  },
  signature: { place: 'ask', isValid: (value) => value === 'webauthn', expected: 'webauthn' },
  self_approval: {
    place: 'ask',
    isValid: (value) => Object.hasOwn(SELF_APPROVALS, value),
    expected: 'owner, editor or any',
  },
  reason: { place: 'any', isValid: isText, expected: 'a sentence for the person who reads the decision' },
  doc: { place: 'any', isValid: isText, expected: 'a sentence on what the policy is for' },
  code: {
    place: 'forbid',
    isValid: (value) => CODES.includes(value),
    expected: 'self_approval_forbidden, approver_not_eligible or scope_not_allowed',
  },
  denied_by: {
    place: 'forbid',
    isValid: (value) => DENIED_BY.some((by) => by === value),
    expected: DENIED_BY.join(', '),
  },
};

/** Whether a text can be a policy's `@id`: kebab-case, at most 128 characters. */
export function isPolicyId(text: string): boolean {
  return text.length <= 128 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(text);
}

/**
 * Finds what is wrong with a policy's annotations: unknown ones,
 * values outside their range, and ones that would mean nothing where they stand.
 */
export function findAnnotationFaults(policy: PolicyJson): AnnotationFault[] {
  const annotations = Object.entries(policy.annotations ?? {});
  const isAsk = policy.annotations?.decision !== undefined;
  const faults = annotations.flatMap(([name, value]) => findFault(name, value, policy.effect, isAsk));
  if (isAsk && policy.effect === 'forbid') {
    faults.push({
      message: '`@decision` stands on a forbid, which cannot ask',
      help: 'Make it a permit, or remove @decision.',
    });
  }
  return faults;
}

/** Reads annotations in which `findAnnotationFaults` found nothing. */
export function readPolicyFacts(id: string, policy: PolicyJson): PolicyFacts {
  const annotations = policy.annotations ?? {};
  return {
    id,
    effect: policy.effect,
    ask: annotations.decision === undefined ? null : readAsk(annotations),
    reason: annotations.reason ?? annotations.doc ?? null,
    deniedBy: (annotations.denied_by as Denial['by'] | undefined) ?? null,
    code: (annotations.code as ApproverCode | undefined) ?? null,
    annotations: Object.fromEntries(
      Object.entries(annotations).map(([name, value]) => [name, String(value ?? '')]),
    ),
  };
}

function readAsk(annotations: Record<string, string>): AskAnnotations {
  return {
    votes: Number(annotations.votes ?? 1),
    groups: annotations.groups === undefined ? [] : splitGroups(annotations.groups),
    ttlSeconds: annotations.ttl_seconds === undefined ? null : Number(annotations.ttl_seconds),
    maxScope: (annotations.max_scope as Scope | undefined) ?? 'once',
    signature: annotations.signature === undefined ? 'none' : 'webauthn',
    selfApproval: SELF_APPROVALS[annotations.self_approval ?? ''] ?? [],
  };
}

function findFault(name: string, value: unknown, effect: string, isAsk: boolean): AnnotationFault[] {
  const rule = Object.hasOwn(RULES, name) ? RULES[name] : undefined;
  if (rule === undefined) {
    const nearest = findNearestName(name, Object.keys(RULES), SLIPS_MAX);
    const known = `Known are ${Object.keys(RULES)
      .map((one) => `@${one}`)
      .join(', ')}.`;
    const help = nearest === undefined ? known : `Did you mean @${nearest}? ${known}`;
    return [{ message: `unknown annotation \`@${name}\``, help }];
  }
  if (typeof value !== 'string' || !rule.isValid(value)) {
    return [{ message: `\`@${name}\` has a value that is not allowed`, help: `Write ${rule.expected}.` }];
  }
  if (rule.place === 'ask' && !isAsk) {
    const help = 'Add @decision("require_approval") or remove it.';
    return [{ message: `\`@${name}\` stands on a policy that does not ask`, help }];
  }
  if (rule.place === 'forbid' && effect !== 'forbid') {
    return [{ message: `\`@${name}\` stands on a permit`, help: 'It says why a forbid refuses. Remove it.' }];
  }
  return [];
}

function isVotes(value: string): boolean {
  return /^[1-9][0-9]?$/.test(value) && Number(value) <= VOTES_MAX;
}

function splitGroups(value: string): string[] {
  return value.split(',').map((group) => group.trim());
}

function areGroups(value: string): boolean {
  const groups = splitGroups(value);
  const areDifferent = new Set(groups).size === groups.length;
  return areDifferent && groups.length <= VOTES_MAX && groups.every((name) => GROUP_NAME.test(name));
}

function isText(value: string): boolean {
  return value.trim() !== '' && !/\n/.test(value) && findForbiddenCharacter(value) === undefined;
}
