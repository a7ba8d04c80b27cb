import { Fault, type FaultIssue } from '../../../core/fault.ts';
import { findUnsafeProse } from '../../../core/identifiers.ts';
import { isJsonObject, type JsonObject } from '../../../core/json.ts';
import { VOTE_SCOPES, type VoteScope } from '../../../core/policy.ts';
import { parseStrictJson, StrictJsonError } from '../../../core/strict_json.ts';
import { REASON_LENGTH_MAX, WINDOW_SECONDS_MAX, WINDOW_USES_MAX } from '../../../core/vote_limits.ts';
import type { Widening } from '../../../operations/widen.ts';

type Form = ReadonlyMap<string, string>;

const JSON_REASONS: Readonly<Record<string, string>> = {
  syntax: 'is not JSON from here on',
  invalid_utf8: 'is not UTF-8',
  duplicate_member: 'has two members of one name',
  lone_surrogate: 'has half a character',
  inexact_number: 'is a number that cannot be kept exactly as it is written',
  too_deep: 'is nested too deeply',
  too_many_members: 'has too many members',
  reserved_member: 'has a name that is not allowed',
};

function refuse(issues: FaultIssue[]): never {
  throw new Fault('invalid_request', 'the form cannot be taken as it is. Mend what is named below', {
    issues,
  });
}

/** What the sender was shown: every form that decides has it. @throws Fault `invalid_request`. */
export function readShown(form: Form): { ifMatch: number; viewHash: string } {
  const version = form.get('version') ?? '';
  const viewHash = form.get('view_hash') ?? '';
  if (/^[1-9]\d{0,8}$/.test(version) && /^[0-9a-f]{64}$/.test(viewHash)) {
    return { ifMatch: Number(version), viewHash };
  }
  throw new Fault(
    'invalid_request',
    'the form does not say what you were shown. Load the page again and decide there',
  );
}

/** A person's words as the API takes them; nothing typed is no reason. @throws Fault `invalid_request`. */
export function readReason(form: Form): string | undefined {
  const reason = (form.get('reason') ?? '').replaceAll('\r\n', '\n').trim();
  if (reason === '') return undefined;
  if (reason.length > REASON_LENGTH_MAX)
    refuse([{ pointer: '/reason', reason: `has more than ${REASON_LENGTH_MAX} characters` }]);
  if (findUnsafeProse(reason) !== undefined) {
    refuse([{ pointer: '/reason', reason: 'must not have control or bidi characters' }]);
  }
  return reason;
}

function readWhole(form: Form, name: string, max: number): number {
  const text = (form.get(name) ?? '').trim();
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max)
    refuse([{ pointer: `/${name}`, reason: `must be a whole number from 1 to ${max}` }]);
  return value;
}

/** How far a yes is widened. @throws Fault `invalid_request`. */
export function readWidening(form: Form): Widening {
  const scope = (form.get('scope') ?? 'once') as VoteScope;
  if (!VOTE_SCOPES.includes(scope)) refuse([{ pointer: '/scope', reason: 'is none of the scopes offered' }]);
  if (scope !== 'window') return { scope, windowSeconds: null, maxUses: null };
  return {
    scope,
    windowSeconds: readWhole(form, 'window_seconds', WINDOW_SECONDS_MAX),
    maxUses: readWhole(form, 'max_uses', WINDOW_USES_MAX),
  };
}

/** Edited parameters, read as strictly as the API reads them. @throws Fault `invalid_json`, `invalid_request`. */
export function readParameters(form: Form): JsonObject {
  const value = parseOrRefuse(form.get('parameters') ?? '');
  if (!isJsonObject(value)) refuse([{ pointer: '/parameters', reason: 'must be an object: `{…}`' }]);
  return value;
}

function parseOrRefuse(text: string) {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    const issues = error.issues.map(({ pointer, reason }) => ({
      pointer: `/parameters${pointer}`,
      reason: JSON_REASONS[reason] ?? reason,
    }));
    throw new Fault('invalid_json', 'the parameters are not strict JSON. Mend what is named below', {
      issues,
    });
  }
}
