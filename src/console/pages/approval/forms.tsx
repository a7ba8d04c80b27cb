import type { Child } from 'hono/jsx';
import { formatId } from '../../../core/ids.ts';
import type { VoteScope } from '../../../core/policy.ts';
import { REASON_LENGTH_MAX } from '../../../core/vote_limits.ts';
import type { Verdict } from '../../../operations/decidability.ts';
import { writeForEditing } from '../../../operations/show_words.ts';
import { CsrfField } from '../../csrf_field.tsx';
import { Prose } from '../../prose.tsx';
import { approvalPath } from '../shared/links.ts';
import { ActionButton } from '../shared/parts.tsx';
import type { ApprovalView, FormName } from './view.ts';

const SCOPES: Readonly<Record<VoteScope, string>> = {
  once: 'for this one time',
  run: 'for this run of the agent, 12 hours at most',
  session: 'for this session, 12 hours at most',
  window: 'for a while, and so many times',
  allowlist: "and put its executables on the agent's allowlist",
};

/** No corrections to what is compared as it stands; of `spellcheck={false}` nothing would be written. */
const AS_TYPED = { spellcheck: 'false' as unknown as boolean };

const NEEDS_SCRIPT = 'this vote is signed with a passkey, which needs JavaScript';

function typedIn(view: ApprovalView, form: FormName, field: string): string {
  return view.sent?.name === form ? (view.sent.typed.get(field) ?? '') : '';
}

function obstacleOf(verdict: Verdict): string | null {
  return verdict.kind === 'can' ? null : verdict.reason;
}

/** What every form of an approval sends: whose session it is of, and what its reader was shown. */
function Form({ view, name, children }: { view: ApprovalView; name: FormName; children: Child }) {
  const { approval, review, csrf } = view;
  return (
    <form
      id={`${name}-form`}
      method="post"
      action={`${approvalPath(approval.approvalId)}/${name}`}
      data-approval={formatId('approval', approval.approvalId)}
      data-decision={name}
    >
      <CsrfField token={csrf} />
      <input type="hidden" name="version" value={String(approval.version)} />
      <input type="hidden" name="view_hash" value={review.view_hash} />
      {children}
    </form>
  );
}

function ReasonField({ view, name, label }: { view: ApprovalView; name: FormName; label: string }) {
  return (
    <p class="field">
      <label for={`${name}-reason`}>{label}</label>
      <textarea id={`${name}-reason`} name="reason" rows={2} maxlength={REASON_LENGTH_MAX}>
        {typedIn(view, name, 'reason')}
      </textarea>
    </p>
  );
}

function ScopeChoice({ view }: { view: ApprovalView }) {
  const { scopes } = view.decidability;
  if (scopes.length <= 1) return <input type="hidden" name="scope" value="once" />;
  const chosen = typedIn(view, 'approve', 'scope') || 'once';
  const hasWindow = scopes.some(({ scope, verdict }) => scope === 'window' && verdict.kind === 'can');
  return (
    <fieldset>
      <legend>Approve</legend>
      {scopes.map(({ scope, verdict }) => (
        <p class="choice">
          <input
            type="radio"
            id={`scope-${scope}`}
            name="scope"
            value={scope}
            checked={scope === chosen}
            disabled={verdict.kind === 'cannot'}
          />
          <label for={`scope-${scope}`}>{SCOPES[scope]}</label>
          {verdict.kind === 'cannot' && (
            <span class="why">
              <Prose text={verdict.reason} />
            </span>
          )}
        </p>
      ))}
      {hasWindow && (
        <div class="window">
          <p class="field">
            <label for="window-seconds">Seconds, for a while (1 to 86400)</label>
            <input
              id="window-seconds"
              name="window_seconds"
              inputmode="numeric"
              value={typedIn(view, 'approve', 'window_seconds')}
            />
          </p>
          <p class="field">
            <label for="max-uses">Times at most, for a while (1 to 100)</label>
            <input
              id="max-uses"
              name="max_uses"
              inputmode="numeric"
              value={typedIn(view, 'approve', 'max_uses')}
            />
          </p>
        </div>
      )}
    </fieldset>
  );
}

function Confirm({ view: { confirmation } }: { view: ApprovalView }) {
  if (confirmation === null) return null;
  return (
    <p class="field confirm">
      <label for="confirm">
        This cannot be undone. To approve it, type the {confirmation.of}'s name:{' '}
        <code>{confirmation.word}</code>
      </label>
      <input id="confirm" name="confirm" required autocomplete="off" autocapitalize="off" {...AS_TYPED} />
    </p>
  );
}

/** Where the script that signs votes puts the assertion; offered only once that script is there, to who has a passkey. */
function Signature({ view, name }: { view: ApprovalView; name: FormName }) {
  const isRequired = view.approval.requirements.signature === 'webauthn' && name === 'approve';
  if (!isRequired && !view.hasPasskey) return null;
  return (
    <>
      <input type="hidden" name="signature" value="" />
      {isRequired ? (
        <p class="muted" data-passkey="required">
          Your vote is signed with your passkey.
        </p>
      ) : (
        <p class="choice" data-passkey="offered" hidden>
          <input type="checkbox" id={`${name}-sign`} data-passkey-choice />
          <label for={`${name}-sign`}>Sign it with my passkey</label>
        </p>
      )}
    </>
  );
}

function Approve({ view }: { view: ApprovalView }) {
  const { decidability, approval } = view;
  const isSigned = approval.requirements.signature === 'webauthn';
  const obstacle = obstacleOf(decidability.approve);
  return (
    <section id="approve" class="decision" aria-labelledby="approve-title">
      <h3 id="approve-title">Approve</h3>
      <Form view={view} name="approve">
        {obstacle === null && (
          <>
            <ScopeChoice view={view} />
            <Confirm view={view} />
            <ReasonField view={view} name="approve" label="A word on it, if you like" />
            <Signature view={view} name="approve" />
          </>
        )}
        <ActionButton
          id="approve-button"
          label="Approve"
          look="primary"
          obstacle={obstacle ?? (isSigned ? NEEDS_SCRIPT : null)}
        />
      </Form>
    </section>
  );
}

function Reject({ view }: { view: ApprovalView }) {
  const obstacle = obstacleOf(view.decidability.reject);
  return (
    <section id="reject" class="decision" aria-labelledby="reject-title">
      <h3 id="reject-title">Reject</h3>
      <Form view={view} name="reject">
        {obstacle === null && (
          <>
            <ReasonField view={view} name="reject" label="Why, for the agent to read" />
            <Signature view={view} name="reject" />
          </>
        )}
        <ActionButton id="reject-button" label="Reject" look="danger" obstacle={obstacle} />
      </Form>
    </section>
  );
}

function Edit({ view }: { view: ApprovalView }) {
  const { decidability, actions, sent } = view;
  const obstacle = obstacleOf(decidability.edit);
  const isSent = sent?.name === 'edit';
  const text = isSent ? (sent.typed.get('parameters') ?? '') : writeForEditing(actions.current.parameters);
  return (
    <details id="edit" class="decision" open={isSent}>
      <summary>
        <h3>Edit the parameters</h3>
      </summary>
      <Form view={view} name="edit">
        {obstacle === null && (
          <>
            <p class="field">
              <label for="parameters">
                Parameters, as JSON. Policy decides the edited action anew; whoever edits does not approve.
              </label>
              <textarea
                id="parameters"
                name="parameters"
                class="code"
                rows={Math.min(text.split('\n').length + 1, 24)}
                {...AS_TYPED}
                {...(isSent && { 'aria-invalid': 'true', 'aria-describedby': 'edit-refusal' })}
              >
                {`\n${text}`}
              </textarea>
            </p>
            {isSent && (
              <div id="edit-refusal" class="why">
                <p>
                  <Prose text={sent.refusal.text} />
                </p>
                <ul>
                  {sent.refusal.issues.map(({ pointer, reason }) => (
                    <li>
                      <code>{pointer}</code> <Prose text={reason} />
                    </li>
                  ))}
                </ul>
              </div>
            )}
            <ReasonField view={view} name="edit" label="Why it is edited" />
          </>
        )}
        <ActionButton id="edit-button" label="Save the edit" obstacle={obstacle} />
      </Form>
    </details>
  );
}

/** Taking back is offered where it is possible: it undoes a yes that was not used yet. */
function Cancel({ view }: { view: ApprovalView }) {
  if (view.decidability.cancel.kind === 'cannot') return null;
  return (
    <details id="cancel" class="decision">
      <summary>
        <h3>Take it back</h3>
      </summary>
      <Form view={view} name="cancel">
        <p class="muted">Nobody decides it then, and a yes that was given and not used is worth nothing.</p>
        <ReasonField view={view} name="cancel" label="Why it is taken back" />
        <ActionButton id="cancel-button" label="Take it back" obstacle={null} />
      </Form>
    </details>
  );
}

/** All that a reader can do, and why not where they cannot. */
export function DecisionForms({ view }: { view: ApprovalView }) {
  return (
    <section id="decide" aria-labelledby="decide-title">
      <h2 id="decide-title">Decide</h2>
      <div class="decisions">
        <Approve view={view} />
        <Reject view={view} />
      </div>
      <Edit view={view} />
      <Cancel view={view} />
    </section>
  );
}
