import { formatId } from '../../../core/ids.ts';
import { getApproval } from '../../../operations/get_approval.ts';
import { definePage, type HtmlAnswer, type PageInput } from '../../page.ts';
import { answerWithFragment, markSession } from '../shared/fragment.ts';
import { agentPath } from '../shared/links.ts';
import { Foreign, StatusBadge } from '../shared/parts.tsx';
import { RefusalNote, statusOfRefusal } from '../shared/refusal.tsx';
import { Countdown } from '../shared/when.tsx';
import { Circumstances, ExactBytes, Justification, Reasons, RecentConsumes } from './circumstances.tsx';
import { DecisionForms } from './forms.tsx';
import { Story, Voters } from './people.tsx';
import { EditedValues, ReviewLines, Warnings } from './review_view.tsx';
import { type ApprovalView, type FormName, type SentForm, toView } from './view.ts';
import { WhatBecame } from './what_became.tsx';

const NOTHING_DONE: Readonly<Record<FormName, string>> = {
  approve: 'It was not approved',
  reject: 'It was not rejected',
  edit: 'It was not edited',
  cancel: 'It was not taken back',
};

/** Whatever of this differs from what a reader was shown makes their forms stale. */
function stampOf({ approval, review, decidability }: ApprovalView): string {
  const can = [decidability.approve, decidability.reject, decidability.edit].map(({ kind }) => kind);
  return [approval.version, approval.status, review.view_hash, ...can].join(' ');
}

function State({ view: { approval, words, caller } }: { view: ApprovalView }) {
  const { resolved, status, agent, readAt, expiresAt, version, edits, votes } = approval;
  const isOpen = status === 'pending' || status === 'approved';
  const hasVoted = votes.some(({ approver }) => approver === caller.principal);
  return (
    <div id="state" data-status={status} data-version={String(version)}>
      <p class="state-line">
        <StatusBadge status={status} /> {isOpen && <Countdown {...{ expiresAt, readAt }} />}
        {edits.length > 0 && <span class="badge">edited, version {version}</span>}
        {hasVoted && <span class="badge">your vote is on it</span>}
      </p>
      <p>
        <a href={agentPath(agent)}>{agent}</a> asks for <Foreign words={words} text={resolved.action} /> of{' '}
        <Foreign words={words} text={resolved.tool} />. <a href="#decide">Decide</a>
      </p>
    </div>
  );
}

function Body({ view }: { view: ApprovalView }) {
  const { approval, actions, review, decidability, policies, words, caller, csrf, sent, follows } = view;
  const { resolved } = approval;
  const shown = { review, actions, words };
  return (
    <div
      id="approval"
      data-live="approval"
      data-session={markSession(csrf)}
      data-approval={formatId('approval', approval.approvalId)}
      data-stamp={stampOf(view)}
    >
      <h1>
        <Foreign words={words} text={resolved.tool} /> · <Foreign words={words} text={resolved.action} />
      </h1>
      <p id="connection" class="muted" />
      <div id="changed" class="notice" hidden role="alert" />
      {sent !== null && <RefusalNote refusal={sent.refusal} nothing={NOTHING_DONE[sent.name]} />}
      {sent === null && follows && <WhatBecame {...{ approval, caller }} />}
      <State view={view} />
      <Warnings warnings={review.warnings} />
      <ReviewLines {...shown} />
      <EditedValues {...shown} />
      <Justification text={approval.context.justification} words={words} />
      <Reasons {...{ approval, policies, words, isDrifted: decidability.isDrifted }} />
      <div id="voters">
        <Voters {...{ approval, words }} />
      </div>
      <DecisionForms view={view} />
      <Circumstances {...{ approval, words }} />
      <RecentConsumes {...approval} />
      <div id="story">
        <Story {...{ approval, words }} />
      </div>
      <ExactBytes
        {...{ approval, words, canonicalAction: actions.canonicalAction, viewHash: review.view_hash }}
      />
    </div>
  );
}

/** The page of an approval, as it stands now, after a form that did nothing or none. */
export async function showApproval(input: PageInput, sent: SentForm | null): Promise<HtmlAnswer> {
  const approval = await getApproval(input.deps, input.caller, input.params.id ?? '');
  const view = await toView(input, approval, sent);
  return {
    kind: 'html',
    title: `${view.words.line(approval.resolved.tool)} · ${view.words.line(approval.resolved.action)}`,
    body: <Body view={view} />,
    status: statusOfRefusal(sent?.refusal ?? null),
    scripts: ['keys.js', 'countdown.js', 'live_approval.js', 'webauthn.js'],
  };
}

export const approvalPage = definePage({
  method: 'get',
  path: '/console/approvals/:id',
  operation: 'get_approval',
  roles: ['approver', 'operator', 'auditor'],
  attempts: 'read first',
  section: 'queue',
  handle: async (input) => answerWithFragment(input, await showApproval(input, null)),
});
