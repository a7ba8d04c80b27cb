import type { Approval, Vote } from '../../../core/approval.ts';
import { countFilledPlaces, countPlaces, findOpenGroups } from '../../../core/requirements.ts';
import type { Words } from '../../../operations/show_words.ts';
import { ForeignBlock } from '../shared/parts.tsx';
import { When } from '../shared/when.tsx';

/** What is still wanted before the agent may go on, as a sentence; null when nothing is. */
export function describeMissing(approval: Pick<Approval, 'requirements' | 'votes'>): string | null {
  const { requirements, votes } = approval;
  const missing = countPlaces(requirements) - countFilledPlaces(requirements, votes);
  if (missing <= 0) return null;
  const groups = findOpenGroups(requirements, votes);
  const anyone = missing - groups.length;
  const parts = [
    ...groups.map((group) => `one vote of the group \`${group}\``),
    ...(anyone > 0 ? [anyone === 1 ? 'one vote of any approver' : `${anyone} votes of any approvers`] : []),
  ];
  return parts.join(' and ');
}

function scopeOf({ scope, windowSeconds, maxUses }: Vote): string {
  if (scope === 'once') return '';
  return scope === 'window'
    ? ` for ${windowSeconds} seconds and at most ${maxUses} uses`
    : ` for the ${scope}`;
}

function VoteItem({ vote, words }: { vote: Vote; words: Words }) {
  const { approver, decision, reason, at, groups, presentGroups } = vote;
  return (
    <li>
      <strong>{approver}</strong>
      {groups.length > 0 && <span class="muted"> ({groups.join(', ')})</span>}{' '}
      {decision === 'approve' ? 'approved' : 'rejected'}
      {scopeOf(vote)}, <When at={at} />
      {presentGroups === null && <span class="why"> This approver is disabled by now.</span>}
      {reason !== null && <ForeignBlock words={words} text={reason} />}
    </li>
  );
}

/** Who has voted, and who else must. */
export function Voters({ approval, words }: { approval: Approval; words: Words }) {
  const { requirements, votes, status } = approval;
  const needed = countPlaces(requirements);
  const filled = countFilledPlaces(
    requirements,
    votes.filter(({ decision }) => decision === 'approve'),
  );
  const missing = status === 'pending' ? describeMissing(approval) : null;
  return (
    <section aria-labelledby="voters-title">
      <h2 id="voters-title">Who decides</h2>
      <p>
        <span data-testid="votes">
          {filled} of {needed}
        </span>{' '}
        {needed === 1 ? 'vote' : 'votes'}
        {requirements.groups.length > 0 && <>, one each of {requirements.groups.join(' and ')}</>}
        {requirements.signature === 'webauthn' && <>, signed with a passkey</>}. Any approver may reject.
      </p>
      {missing !== null && <p>Still wanted: {missing.replaceAll('`', '')}.</p>}
      {votes.length > 0 && (
        <ul class="votes">
          {votes.map((vote) => (
            <VoteItem vote={vote} words={words} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** What happened to the approval, oldest first. */
export function Story({ approval, words }: { approval: Approval; words: Words }) {
  const { edits, createdAt, decidedAt, decidedBy, decisionReason, consumedAt, outcome, voidReason, status } =
    approval;
  return (
    <section aria-labelledby="story-title">
      <h2 id="story-title">What happened</h2>
      <ol class="story">
        <li>
          asked for by {approval.agent}, <When at={createdAt} />
        </li>
        {edits.map(({ editor, reason, at }) => (
          <li>
            edited by {editor}, <When at={new Date(at)} />
            {reason !== null && <ForeignBlock words={words} text={reason} />}
          </li>
        ))}
        {decidedAt !== null && (
          <li>
            {status === 'rejected' || status === 'cancelled'
              ? status === 'rejected'
                ? 'rejected'
                : 'taken back'
              : 'approved'}{' '}
            by {decidedBy}, <When at={decidedAt} />
            {decisionReason !== null && <ForeignBlock words={words} text={decisionReason} />}
          </li>
        )}
        {consumedAt !== null && (
          <li>
            used by {approval.agent}, <When at={consumedAt} />
          </li>
        )}
        {outcome !== null && (
          <li>
            {outcome.outcome}, as {approval.agent} reported, <When at={new Date(outcome.reported_at)} />
            {outcome.detail !== null && <ForeignBlock words={words} text={outcome.detail} />}
          </li>
        )}
        {voidReason !== null && <li>voided: {voidReason.replaceAll('_', ' ')}</li>}
        {status === 'expired' && (
          <li>
            expired, <When at={approval.expiresAt} />
          </li>
        )}
      </ol>
    </section>
  );
}
