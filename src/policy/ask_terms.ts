import { type AskTerms, SCOPES, type SelfApproval } from '../core/policy.ts';
import type { AskAnnotations } from './annotations.ts';

/**
 * What several asks demand together: all groups, most votes and never
 * fewer than groups, a signature if one wants it, the shortest life, the narrowest scope, and self-approval only
 * of kinds that every ask allows. There must be at least one ask.
 */
export function collectAskTerms(asks: readonly AskAnnotations[]): AskTerms {
  const groups = [...new Set(asks.flatMap((ask) => ask.groups))].toSorted();
  const ttls = asks.flatMap((ask) => (ask.ttlSeconds === null ? [] : [ask.ttlSeconds]));
  const narrowest = Math.min(...asks.map((ask) => SCOPES.indexOf(ask.maxScope)));
  return {
    requirements: {
      votes: Math.max(groups.length, ...asks.map((ask) => ask.votes)),
      groups,
      signature: asks.some((ask) => ask.signature === 'webauthn') ? 'webauthn' : 'none',
    },
    ttlSeconds: ttls.length === 0 ? null : Math.min(...ttls),
    selfApproval: allowedByAll(asks),
    maxScope: SCOPES[narrowest] ?? 'once',
  };
}

function allowedByAll(asks: readonly AskAnnotations[]): SelfApproval[] {
  const [first, ...others] = asks;
  return (first?.selfApproval ?? []).filter((kind) => others.every((ask) => ask.selfApproval.includes(kind)));
}
