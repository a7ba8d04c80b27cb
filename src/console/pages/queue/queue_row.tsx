import { formatId } from '../../../core/ids.ts';
import { countFilledPlaces, countPlaces } from '../../../core/requirements.ts';
import type { JudgedItem, QueueItem } from '../../../operations/list_queue.ts';
import type { Words } from '../../../operations/show_words.ts';
import { Prose } from '../../prose.tsx';
import { GistLines } from '../shared/gist_lines.tsx';
import { agentPath, approvalPath, sessionPath } from '../shared/links.ts';
import { Foreign } from '../shared/parts.tsx';
import { Countdown } from '../shared/when.tsx';

/** Where a row stands among those of the same action. */
export interface Alike {
  number: number;
  of: number;
}

/** The id of a row in the page. */
export function rowId(approvalId: string): string {
  return `row-${formatId('approval', approvalId)}`;
}

function Tags({ item, alike }: { item: QueueItem; alike: Alike }) {
  const { requirements, votes, warnings, edits } = item;
  const approvals = votes.filter(({ decision }) => decision === 'approve');
  const needed = countPlaces(requirements);
  return (
    <ul class="tags">
      {alike.of > 1 && (
        <li class="badge">
          identical action: {alike.number} of {alike.of}
        </li>
      )}
      {warnings.map((code) => (
        <li class="badge warn">{code.replaceAll('_', ' ')}</li>
      ))}
      {edits.length > 0 && <li class="badge">edited, version {item.version}</li>}
      {needed > 1 && (
        <li class="badge">
          {countFilledPlaces(requirements, approvals)} of {needed} votes
        </li>
      )}
      {requirements.groups.length > 0 && <li class="badge">needs {requirements.groups.join(' and ')}</li>}
      {requirements.signature === 'webauthn' && <li class="badge">signed with a passkey</li>}
    </ul>
  );
}

function Place({ item, words }: { item: QueueItem; words: Words }) {
  const { session_id: session, environment, workspace } = item.context;
  return (
    <p class="meta">
      by <a href={agentPath(item.agent)}>{item.agent}</a>
      {environment !== null && (
        <>
          {' in '}
          <Foreign words={words} text={environment} />
        </>
      )}
      {workspace !== null && (
        <>
          {' at '}
          <Foreign words={words} text={workspace} />
        </>
      )}
      {session !== null && (
        <>
          {', session '}
          <a href={sessionPath(item.agent, session)}>
            <Foreign words={words} text={session} />
          </a>
        </>
      )}
    </p>
  );
}

/** Whatever of this differs makes a row another than the one that is on a screen. */
function stampOf({ item, verdict }: JudgedItem, alike: Alike): string {
  const { version, votes, expiresAt } = item;
  return [version, votes.length, expiresAt.getTime(), verdict.kind, alike.number, alike.of].join(' ');
}

/** One approval that waits: enough to pick it, with a link to the whole. */
export function QueueRow({
  judged,
  alike,
  readAt,
  words,
}: {
  judged: JudgedItem;
  alike: Alike;
  readAt: Date;
  words: Words;
}) {
  const { item, verdict } = judged;
  return (
    <li
      id={rowId(item.approvalId)}
      class="ask"
      data-approval={formatId('approval', item.approvalId)}
      data-stamp={stampOf(judged, alike)}
      data-list={verdict.kind === 'can' ? 'mine' : 'others'}
    >
      <h3>
        <a class="row-link" href={approvalPath(item.approvalId)}>
          <Foreign words={words} text={item.resolved.tool} /> <span class="muted">·</span>{' '}
          <Foreign words={words} text={item.resolved.action} />
        </a>
      </h3>
      <p class="ask-expiry">
        <Countdown expiresAt={item.expiresAt} readAt={readAt} />
      </p>
      <GistLines gist={item.gist} />
      <Tags item={item} alike={alike} />
      <Place item={item} words={words} />
      {verdict.kind === 'cannot' && (
        <p class="why">
          <Prose text={`you cannot approve it: ${verdict.reason}`} />
        </p>
      )}
    </li>
  );
}
