import type { Gist } from '../../../operations/gist.ts';

/** The first lines of what would run; what is left out is said. */
export function GistLines({ gist: { lines, linesLeftOut } }: { gist: Gist }) {
  return (
    <dl class="gist">
      {lines.map(({ label, text, leftOut }) => (
        <div>
          <dt>{label}</dt>
          <dd>
            <bdi>{text}</bdi>
            {leftOut > 0 && <span class="muted"> … {leftOut} more characters</span>}
          </dd>
        </div>
      ))}
      {linesLeftOut > 0 && <div class="muted">and {linesLeftOut} more lines</div>}
    </dl>
  );
}
