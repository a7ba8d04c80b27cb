import type { Contribution, Decision, Explanation } from '../../core/policy.ts';
import { type AskOrigin, findAskOrigins } from '../../policy/ask_origins.ts';
import type { PolicyPlaces } from '../../policy/places.ts';
import { type Style, type Terminal, table, toJsonText, visible } from '../terminal.ts';

const STYLES: Record<Decision['decision'], Style> = {
  allow: 'green',
  deny: 'red',
  require_approval: 'yellow',
};

/** An explanation for a person to read: decision, policies, where each demand comes from, and the facts. */
export function formatExplanation(
  terminal: Terminal,
  { decision, contributions, facts }: Explanation,
  places: PolicyPlaces,
): string {
  const list = (title: string, some: readonly Contribution[]) =>
    some.length === 0 ? [] : [title, ...some.map((one) => formatContribution(terminal, one, places)), ''];
  const isAsk = decision.decision === 'require_approval';
  const applied = contributions.filter((one) => one.applied);
  return [
    ...formatDecision(terminal, decision),
    '',
    ...list('Policies that decided', applied),
    ...(applied.length === 0 ? ['No policy decided.', ''] : []),
    ...list(
      'Policies whose scope matches and whose conditions do not',
      contributions.filter((one) => !one.applied),
    ),
    ...(isAsk ? formatOrigins(findAskOrigins(decision, contributions)) : []),
    'What policy was told',
    toJsonText(facts).replaceAll(/^/gm, '    '),
  ].join('\n');
}

function formatDecision(terminal: Terminal, decision: Decision): string[] {
  const denial = decision.decision === 'deny' ? decision.denial : null;
  const { tool, action } = decision.resolved;
  const rows = [
    ['reason', decision.reason],
    ['tool', `${tool}, action ${action}`],
    ...(denial === null ? [] : [['denied by', denial.by]]),
    ['revision', decision.policyRevision],
  ];
  return [
    terminal.paint(STYLES[decision.decision], decision.decision),
    table(rows.map((row) => [`    ${row[0]}`, visible(row[1] ?? '')])),
  ];
}

function formatContribution(
  terminal: Terminal,
  { policyId, effect, annotations }: Contribution,
  places: PolicyPlaces,
): string {
  const kind = effect === 'permit' && annotations.decision !== undefined ? 'ask' : effect;
  const found = Object.hasOwn(places, policyId) ? places[policyId] : undefined;
  const place = found === undefined ? 'not in this folder' : `${found.source}:${found.line}`;
  const lines = Object.entries(annotations)
    .filter(([name]) => name !== 'id')
    .map(([name, value]) => `        @${visible(name)}(${visible(JSON.stringify(value))})`);
  return [`    ${terminal.paint('bold', policyId)} (${kind}, ${visible(place)})`, ...lines].join('\n');
}

function formatOrigins(origins: readonly AskOrigin[]): string[] {
  const rows = origins.map(({ demand, value, policies }) => [
    `    ${demand}`,
    visible(value),
    policies.length === 0 ? 'by default' : `by ${policies.join(', ')}`,
  ]);
  return ['What the ask demands', table(rows), ''];
}
