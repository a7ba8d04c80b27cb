import type { Approval } from '../../../core/approval.ts';
import { formatId } from '../../../core/ids.ts';
import type { PolicyTexts } from '../../../core/rules.ts';
import type { Words } from '../../../operations/show_words.ts';
import { Prose } from '../../prose.tsx';
import { agentPath, approvalPath, sessionPath } from '../shared/links.ts';
import { Facts, Foreign, ForeignBlock, Hash } from '../shared/parts.tsx';
import { When } from '../shared/when.tsx';

/** The agent's own words, set apart from what is known. */
export function Justification({ text, words }: { text: string | null; words: Words }) {
  if (text === null) return null;
  return (
    <section aria-labelledby="words-title">
      <h2 id="words-title">The agent's own words</h2>
      <p class="muted">Not checked, and no part of what is approved.</p>
      <ForeignBlock words={words} text={text} />
    </section>
  );
}

/** Why policy asks: the reason, and the policies that it is of, with their texts for who may read them. */
export function Reasons({
  approval: { reason, determiningPolicies, policyRevision, status },
  policies,
  isDrifted,
  words,
}: {
  approval: Approval;
  policies: PolicyTexts | null;
  /** Whether other policies are in force than those it was decided by. */
  isDrifted: boolean;
  words: Words;
}) {
  const textOf = (id: string) =>
    policies !== null && Object.hasOwn(policies, id) ? policies[id] : undefined;
  return (
    <section aria-labelledby="why-title">
      <h2 id="why-title">Why policy asks</h2>
      <p>
        <Prose text={reason} />
      </p>
      <ul class="policies">
        {determiningPolicies.map((id) => (
          <li>
            <code>{id}</code>
            {textOf(id) !== undefined && (
              <details>
                <summary>{isDrifted ? 'Its text as it is now, not when it asked' : 'Its text'}</summary>
                <pre class="value">{words.lines(textOf(id) ?? '').join('\n')}</pre>
              </details>
            )}
          </li>
        ))}
      </ul>
      {policies === null && <p class="muted">Operators are shown the texts of policies.</p>}
      {isDrifted && status === 'pending' && (
        <p class="notice">
          Other policies are in force by now. A vote decides the action anew by them first, and voids the
          approval if it does not hold.
        </p>
      )}
      <p class="muted">
        Decided under revision <Hash value={policyRevision} />
      </p>
    </section>
  );
}

/** Where the request comes from, as policy was told. */
export function Circumstances({ approval, words }: { approval: Approval; words: Words }) {
  const { agent, owner, context } = approval;
  const { session_id: session } = context;
  const foreign = (text: string | null) =>
    text === null ? 'not said' : <Foreign words={words} text={text} />;
  return (
    <section aria-labelledby="from-title">
      <h2 id="from-title">Where it comes from</h2>
      <Facts
        items={[
          ['agent', <a href={agentPath(agent)}>{agent}</a>],
          owner === null ? null : ['owned by', owner],
          ['workspace', foreign(context.workspace)],
          ['environment', foreign(context.environment)],
          [
            'session',
            session === null ? 'not said' : <a href={sessionPath(agent, session)}>{foreign(session)}</a>,
          ],
          context.run_id === null ? null : ['run', foreign(context.run_id)],
          context.parent_run_id === null ? null : ['begun by run', foreign(context.parent_run_id)],
          ['source trust', context.source_trust.replaceAll('_', ' ')],
          ['sensitive data', context.contains_sensitive_data ? 'yes' : 'no'],
          ['attended', context.unattended ? 'no' : 'yes'],
          ['tier', context.tier],
          ['asked', <When at={approval.createdAt} />],
        ]}
      />
    </section>
  );
}

/** When this agent did the same lately. */
export function RecentConsumes({ recent, readAt }: Pick<Approval, 'recent' | 'readAt'>) {
  return (
    <section aria-labelledby="recent-title">
      <h2 id="recent-title">The same action lately</h2>
      {recent.length === 0 ? (
        <p class="muted">
          This agent has not used an approval of the same action in the 24 hours before <When at={readAt} />.
        </p>
      ) : (
        <ul>
          {recent.map(({ approvalId, consumedAt, outcome }) => (
            <li>
              <a href={approvalPath(approvalId)}>
                used <When at={consumedAt} />
              </a>
              {', '}
              {outcome === null ? 'no outcome reported' : outcome.outcome}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** What exactly is approved, for who wants to compare. */
export function ExactBytes({
  approval,
  canonicalAction,
  viewHash,
  words,
}: {
  approval: Approval;
  canonicalAction: string | null;
  viewHash: string;
  words: Words;
}) {
  return (
    <details class="exact">
      <summary>What is approved, by its hashes</summary>
      <Facts
        items={[
          ['approval', <code>{formatId('approval', approval.approvalId)}</code>],
          ['action hash', <Hash value={approval.actionHash} />],
          ['view hash', <Hash value={viewHash} />],
          approval.edits.length === 0
            ? null
            : ['first asked for', <Hash value={approval.originalActionHash} />],
        ]}
      />
      {canonicalAction === null ? (
        <p class="muted">The text that is hashed holds a secret, and is not shown to you.</p>
      ) : (
        <pre class="value">{words.lines(canonicalAction).join('\n')}</pre>
      )}
    </details>
  );
}
