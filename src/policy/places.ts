import type { RulesProblem } from '../core/rules.ts';
import { type Place, shiftPlace } from './line_index.ts';
import type { PolicySource } from './policy_text.ts';

/** Where policies begin, by id. */
export type PolicyPlaces = Readonly<Record<string, Place & { source: string | null }>>;

/** Keeps the places of policies, without their texts. */
export function placesOf(policies: readonly PolicySource[]): PolicyPlaces {
  return Object.fromEntries(policies.map(({ id, source, line, column }) => [id, { source, line, column }]));
}

/**
 * Tells problems by the file and line that their policies came from. A problem with a place in its policy's text
 * gets the same place in the file; one without, the place where the policy begins.
 */
export function locateProblems(problems: readonly RulesProblem[], places: PolicyPlaces): RulesProblem[] {
  return problems.map((found) => {
    const start = found.policyId !== null && Object.hasOwn(places, found.policyId) && places[found.policyId];
    if (!start || found.source !== null) return found;
    const { line, column } = found;
    const place = line === null || column === null ? start : shiftPlace({ line, column }, start);
    return { ...found, source: start.source, line: place.line, column: place.column };
  });
}
