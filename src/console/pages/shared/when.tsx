/** A moment in UTC to the second, as everybody who reads it has it. */
export function showMoment(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** A moment. */
export function When({ at }: { at: Date }) {
  return <time datetime={at.toISOString()}>{showMoment(at)}</time>;
}

const SECOND = 1000;
const MINUTE = 60;
const HOUR = 3600;

/** How long is left, as the script that counts down writes it: `2 h 5 min`, `4 min 10 s`, `9 s`. */
export function showLeft(ms: number): string {
  const seconds = Math.max(Math.floor(ms / SECOND), 0);
  if (seconds >= HOUR) return `${Math.floor(seconds / HOUR)} h ${Math.floor((seconds % HOUR) / MINUTE)} min`;
  if (seconds >= MINUTE) return `${Math.floor(seconds / MINUTE)} min ${seconds % MINUTE} s`;
  return `${seconds} s`;
}

/**
 * What is left until something expires, by the service's clock: the script counts down from what was left when it was
 * read, so that it does not matter how the reader's clock goes.
 */
export function Countdown({ expiresAt, readAt }: { expiresAt: Date; readAt: Date }) {
  const left = expiresAt.getTime() - readAt.getTime();
  return (
    <span class="expiry">
      expires in{' '}
      <span class="countdown" data-left-ms={String(Math.max(left, 0))}>
        {showLeft(left)}
      </span>{' '}
      <span class="muted">
        (<When at={expiresAt} />)
      </span>
    </span>
  );
}
