import { showText } from '../../analysis/review/show_text.ts';
import { type Approval, presentVotes } from '../../core/approval.ts';
import { formatId } from '../../core/ids.ts';
import type { Masker } from '../../core/masker.ts';
import { countFilledPlaces, countPlaces, findOpenGroups } from '../../core/requirements.ts';
import type { SlackNotice } from '../../core/slack_ports.ts';
import { reviewOf } from '../review.ts';

/** Votes that an approval still misses, as far as who voted could vote now. */
export function findMissing({ requirements, votes }: Approval): SlackNotice['missing'] {
  const counted = presentVotes(votes).filter(({ decision }) => decision === 'approve');
  return {
    votes: countPlaces(requirements) - countFilledPlaces(requirements, counted),
    groups: findOpenGroups(requirements, counted),
  };
}

function placesOf({ context }: Approval, show: (text: string) => string): SlackNotice['places'] {
  const named = {
    workspace: context.workspace,
    environment: context.environment,
    session: context.session_id,
    run: context.run_id,
  };
  return Object.entries(named).flatMap(([name, value]) =>
    value === null ? [] : { name, value: show(value) },
  );
}

/** What is told of an approval as it stands. */
export function toNotice(approval: Approval, masker: Masker): SlackNotice {
  const show = (text: string): string =>
    showText(masker.maskText(text), { mayRunLeft: false, isToken: false }).text;
  const showIfAny = (text: string | null): string | null => (text === null ? null : show(text));
  const review = reviewOf(approval, masker);
  const { requirements, resolved, context } = approval;
  return {
    approvalId: formatId('approval', approval.approvalId),
    version: approval.version,
    status: approval.status,
    actionHash: approval.actionHash,
    viewHash: review.view_hash,
    tool: show(resolved.tool),
    action: show(resolved.action),
    agent: approval.agent,
    owner: approval.owner,
    places: placesOf(approval, show),
    justification: showIfAny(context.justification),
    reason: show(approval.reason),
    policies: approval.determiningPolicies.map(show),
    lines: review.lines,
    warnings: review.warnings,
    isDestructive: approval.reviewFacts?.destructive !== false,
    recentRuns: approval.recent.length,
    needs: {
      votes: countPlaces(requirements),
      groups: requirements.groups,
      isSigned: requirements.signature !== 'none',
    },
    votes: approval.votes.map(({ approver, decision, at, reason }) => ({
      approver,
      decision,
      at,
      reason: showIfAny(reason),
    })),
    missing: findMissing(approval),
    edits: approval.edits.map(({ editor, at, reason }) => ({ editor, at, reason: showIfAny(reason) })),
    decidedBy: approval.decidedBy,
    decidedAt: approval.decidedAt,
    decisionReason: showIfAny(approval.decisionReason),
    voidReason: approval.voidReason,
    consumedAt: approval.consumedAt,
    expiresAt: approval.expiresAt,
  };
}
