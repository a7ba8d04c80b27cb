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

/**
 * A command of as many bytes, by whole lines: one cut within quotes would be one that no parser reads, which costs
 * twice as much a byte, since it is then looked at in another way as well.
 */
function commandOf(bytes: number): string {
  return LINE.repeat(Math.round(bytes / LINE.length));
}

/** An action with the command; a number makes it another each time, since a command asked for again is remembered. */
function actionOf(command: string, number: number): string {
  return canonicalAction({
    tool: 'shell',
    action: 'exec',
    resource: null,
    mutates_state: true,
    parameters: { command: `${command}# ${number}`, cwd: '/srv/app' },
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
  /**
   * Milliseconds for a command of 2 KiB, and some bytes more: of all rounds, and the median of the quietest. Work that
   * is not waiting but computing takes twice as long while others use the same core, which goes on for seconds.
   */
  small: { quietest: number; p50: number; p99: number };
  /** Milliseconds for one of 256 KiB. */
  large: number;
  /** What a byte of the large one costs against a byte of one of 16 KiB, each at its best: 1 is linear. */
  growth: number;
}

const KIB = 1024;
/** Views before those that count: by then the runtime has compiled what it compiles. */
const WARM_UP = 600;
const ROUNDS = 20;

/** What a new approval costs beside its statements: analysis, masking and the view, from the canonical bytes. */
export function measureReview(viewsOfRound: number): ReviewCost {
  let made = 0;
  const measure = (command: string, times: number): number[] => {
    return Array.from({ length: times }, () => {
      made += 1;
      return reviewOnce(actionOf(command, made));
    });
  };
  const [little, middle, most] = [commandOf(2 * KIB), commandOf(16 * KIB), commandOf(255 * KIB)];
  measure(little, WARM_UP);
  const rounds = Array.from({ length: ROUNDS }, () => measure(little, viewsOfRound));
  const leastOfByte = (command: string, times: number): number =>
    Math.min(...measure(command, times)) / command.length;
  const large = measure(most, 5);
  return {
    small: {
      quietest: Math.min(...rounds.map(median)),
      p50: median(rounds.flat()),
      p99: quantile(rounds.flat(), 0.99),
    },
    large: median(large),
    growth: Math.min(...large) / most.length / leastOfByte(middle, 15),
  };
}
