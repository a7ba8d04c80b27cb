import type { Child } from 'hono/jsx';
import type { ApprovalStatus } from '../../../core/approval.ts';
import type { Words } from '../../../operations/show_words.ts';
import { Prose } from '../../prose.tsx';

/** An approval's status in words. */
export const STATUS_WORDS: Readonly<Record<ApprovalStatus, string>> = {
  pending: 'waits for a decision',
  approved: 'approved, not used yet',
  rejected: 'rejected',
  expired: 'expired',
  consumed: 'approved and used',
  cancelled: 'taken back',
  voided: 'voided',
};

const STATUS_LOOKS: Readonly<Record<ApprovalStatus, string>> = {
  pending: 'warn',
  approved: 'good',
  consumed: 'good',
  rejected: 'bad',
  voided: 'bad',
  cancelled: '',
  expired: '',
};

export function StatusBadge({ status }: { status: ApprovalStatus }) {
  return <span class={`badge ${STATUS_LOOKS[status]}`}>{STATUS_WORDS[status]}</span>;
}

/** Words of others, in a line of their own that cannot move what stands around it. */
export function Foreign({ words, text }: { words: Words; text: string }) {
  return <bdi class="foreign">{words.line(text)}</bdi>;
}

/** Words of others in the lines they have, marked as theirs. */
export function ForeignBlock({ words, text }: { words: Words; text: string }) {
  return (
    <blockquote class="foreign-block">
      {words.lines(text).map((line) => (
        <p dir="auto">{line === '' ? '\u00a0' : line}</p>
      ))}
    </blockquote>
  );
}

/** A hash, whole, that breaks where it must. */
export function Hash({ value }: { value: string }) {
  return <code class="hash">{value}</code>;
}

/** Pairs of a name and what it stands for. */
export function Facts({ items }: { items: readonly (readonly [string, Child] | null)[] }) {
  return (
    <dl class="facts">
      {items.map(
        (item) =>
          item !== null && (
            <>
              <dt>{item[0]}</dt>
              <dd>{item[1]}</dd>
            </>
          ),
      )}
    </dl>
  );
}

/** A button that says why where it does nothing. `obstacle` is null for one that works. */
export function ActionButton({
  id,
  label,
  look = '',
  obstacle,
}: {
  id: string;
  label: string;
  look?: string;
  obstacle: string | null;
}) {
  if (obstacle === null) {
    return (
      <button type="submit" id={id} class={`button ${look}`}>
        {label}
      </button>
    );
  }
  return (
    <>
      <button type="submit" id={id} class={`button ${look}`} disabled aria-describedby={`${id}-why`}>
        {label}
      </button>
      <p class="why" id={`${id}-why`}>
        <Prose text={obstacle} />
      </p>
    </>
  );
}

/** A link to the next page of a list; nothing where there is none. */
export function NextPage({ href }: { href: string | null }) {
  if (href === null) return null;
  return (
    <p>
      <a class="button" rel="next" href={href}>
        Older
      </a>
    </p>
  );
}
