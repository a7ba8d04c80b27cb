import { renderReview } from '../src/analysis/review/render_review.ts';
import { createMasker } from '../src/analysis/secrets/masker.ts';
import { canonicalAction } from '../src/core/canonical_action.ts';
import { median, quantile } from './stats.ts';

const FACTS = {
  registered: true,
  command: { parameter: 'command', argvParameter: 'argv' },
  pathParameters: ['cwd'],
  hostParameters: [],
  workspaceRoot: '/srv/app',
};

const masker = createMasker('a key of the benchmark');

/** A command as agents send them: pipes, chains, quotes, wrappers, variables, a substitution, a token to mask. */
const LINE =
  "cd /srv/app && git log --since='2 weeks ago' --format=\"%h %s\" | grep -v 'Merge branch' | sort | uniq -c; " +
  'curl -fsS -H "Authorization: Bearer 3q8Fh2kP0sLx9VbN7cTzW1yR5mJd6gKa" "$API_URL/v1/items?limit=50" | jq -r .items[].name; ' +
  'sudo env LANG=C find ./logs -name "*.log" -mtime +7 -exec gzip {} \\; # keep a week\n' +
  'for f in *.csv; do echo "$f: $(wc -l < "$f")"; done\n';

function actionOf(bytes: number): string {
  const command = LINE.repeat(Math.ceil(bytes / LINE.length)).slice(0, bytes);
  return canonicalAction({
    tool: 'shell',
    action: 'exec',
    resource: null,
    mutates_state: true,
    parameters: { command, cwd: '/srv/app' },
  });
}

function reviewOnce(action: string): number {
  const startedAt = performance.now();
  renderReview({
    canonicalAction: action,
    originalAction: null,
    resolved: { tool: 'shell', action: 'exec' },
    facts: FACTS,
    secretParameters: [],
    masker,
  });
  return performance.now() - startedAt;
}

export interface ReviewCost {
  /** Milliseconds for a command of 2 KiB. */
  small: { p50: number; p99: number };
  /** Milliseconds for one of 256 KiB. */
  large: number;
  /** What a byte of the large one costs against a byte of one of 16 KiB: 1 is linear. */
  growth: number;
}

const KIB = 1024;

/** What a new approval costs beside its statements: analysis, masking and the view, from the canonical bytes. */
export function measureReview(rounds: number): ReviewCost {
  const measure = (bytes: number, times: number): number[] => {
    const action = actionOf(bytes);
    return Array.from({ length: times }, () => reviewOnce(action));
  };
  measure(2 * KIB, rounds);
  const small = measure(2 * KIB, rounds);
  const middle = median(measure(16 * KIB, 9));
  const large = median(measure(256 * KIB, 3));
  return {
    small: { p50: median(small), p99: quantile(small, 0.99) },
    large,
    growth: large / 256 / (middle / 16),
  };
}
