import type { Review, ReviewLine, ReviewWarning } from '../../../core/review.ts';
import type { VisibleActions } from '../../../core/secret_values.ts';
import type { Words } from '../../../operations/show_words.ts';
import { Prose } from '../../prose.tsx';
import { Hash } from '../shared/parts.tsx';
import { findFolded } from './folded_value.ts';

const DEPTH_MAX = 8;

interface LineProps {
  line: ReviewLine;
  actions: VisibleActions;
  words: Words;
}

/** The name of a line: what it is of, said once. */
function nameOf({ kind, label }: ReviewLine): string {
  return label === kind || label.startsWith(`${kind} `) ? label : `${kind} ${label}`;
}

function Folded({ line, actions, words }: LineProps) {
  if (line.folded === null) return null;
  const whole = findFolded(actions, line);
  return (
    <div class="folded">
      <p>
        {line.folded.length} characters in full, of SHA-256 <Hash value={line.folded.sha256} />
      </p>
      {whole === undefined ? (
        <p class="muted">
          {line.kind === 'segment'
            ? 'It is part of the command above.'
            : 'The whole is not shown to you here.'}
        </p>
      ) : (
        <details>
          <summary>Show all of it</summary>
          <pre class="value">{words.lines(whole).join('\n')}</pre>
        </details>
      )}
    </div>
  );
}

function Line({ line, actions, words }: LineProps) {
  const depth = Math.min(line.depth, DEPTH_MAX);
  return (
    <tr class={`line-${line.kind}`}>
      <th scope="row">
        <bdi>{nameOf(line)}</bdi>
      </th>
      <td class={depth === 0 ? '' : `depth-${depth}`}>
        {line.depth > 0 && <span class="visually-hidden">inside, level {line.depth}: </span>}
        <bdi class="shown">{line.text}</bdi>
        <Folded {...{ line, actions, words }} />
      </td>
    </tr>
  );
}

/** What would run, in the lines of the review, each with its name. */
export function ReviewLines({
  review,
  actions,
  words,
}: {
  review: Review;
  actions: VisibleActions;
  words: Words;
}) {
  const lines = review.lines.filter(({ kind }) => kind !== 'edit');
  return (
    <section aria-labelledby="run-title">
      <h2 id="run-title">What would run</h2>
      <div class="table-scroll">
        <table class="lines">
          <thead class="visually-hidden">
            <tr>
              <th scope="col">What</th>
              <th scope="col">Value</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <Line {...{ line, actions, words }} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** What the review warns of, before anything else. */
export function Warnings({ warnings }: { warnings: readonly ReviewWarning[] }) {
  if (warnings.length === 0) return <p class="muted">No warnings.</p>;
  return (
    <section class="notice" aria-labelledby="warnings-title">
      <h2 id="warnings-title">{warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`}</h2>
      <ul>
        {warnings.map(({ code, path, text }) => (
          <li>
            <strong>{code.replaceAll('_', ' ')}</strong>
            {path !== null && (
              <>
                {' '}
                <code>{path}</code>
              </>
            )}
            {': '}
            <Prose text={text} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Change {
  pointer: string;
  was: ReviewLine;
  becomes: ReviewLine;
}

/** The lines of an edit come in pairs, before and after. */
function pairEdits(lines: readonly ReviewLine[]): Change[] {
  const edits = lines.filter(({ kind }) => kind === 'edit');
  const changes: Change[] = [];
  for (let index = 0; index + 1 < edits.length; index += 2) {
    const [was, becomes] = [edits[index], edits[index + 1]];
    if (was !== undefined && becomes !== undefined) {
      changes.push({ pointer: was.label.replace(/ was$/, ''), was, becomes });
    }
  }
  return changes;
}

/** What an edit has changed of what the agent asked for; nothing where nobody edited. */
export function EditedValues({
  review,
  actions,
  words,
}: {
  review: Review;
  actions: VisibleActions;
  words: Words;
}) {
  const changes = pairEdits(review.lines);
  if (changes.length === 0) return null;
  return (
    <section aria-labelledby="edited-title">
      <h2 id="edited-title">What was edited</h2>
      <div class="table-scroll">
        <table class="edits">
          <thead>
            <tr>
              <th scope="col">Value</th>
              <th scope="col">The agent asked for</th>
              <th scope="col">It would run with</th>
            </tr>
          </thead>
          <tbody>
            {changes.map(({ pointer, was, becomes }) => (
              <tr>
                <th scope="row">
                  <bdi>{pointer}</bdi>
                </th>
                <td>
                  <del>
                    <bdi class="shown">{was.text}</bdi>
                  </del>
                  <Folded {...{ line: was, actions, words }} />
                </td>
                <td>
                  <ins>
                    <bdi class="shown">{becomes.text}</bdi>
                  </ins>
                  <Folded {...{ line: becomes, actions, words }} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
