import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Metrics } from '../core/ports.ts';
import type { AppOptions } from './app.ts';

export interface ServiceMetrics extends Metrics {
  onAnswer: NonNullable<AppOptions['onAnswer']>;
  /** All metrics in Prometheus' text format. */
  text(): Promise<string>;
}

/** Seconds that people take: some decide at once, some within the longest life of an approval. */
const PEOPLE_BUCKETS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 14_400, 86_400];

function createPeopleMetrics(
  registers: Registry[],
): Pick<Metrics, 'countVote' | 'countDecided' | 'countExpired'> {
  const votes = new Counter({
    name: 'aegis_votes_total',
    help: 'Votes cast, by decision',
    labelNames: ['decision'],
    registers,
  });
  const shownToVote = new Histogram({
    name: 'aegis_shown_to_vote_seconds',
    help: 'Time from when an approver was first shown an approval to their vote',
    buckets: PEOPLE_BUCKETS,
    registers,
  });
  const askedToDecided = new Histogram({
    name: 'aegis_asked_to_decided_seconds',
    help: 'Time from when an approval was asked for to the decision of people, by outcome',
    labelNames: ['outcome'],
    buckets: PEOPLE_BUCKETS,
    registers,
  });
  const expired = new Counter({
    name: 'aegis_approvals_expired_total',
    help: 'Approvals whose time passed; seen is whether any approver had been shown it',
    labelNames: ['seen'],
    registers,
  });
  return {
    countVote: (decision, secondsSinceShown) => {
      votes.inc({ decision });
      if (secondsSinceShown !== null) shownToVote.observe(secondsSinceShown);
    },
    countDecided: (outcome, seconds) => askedToDecided.observe({ outcome }, seconds),
    countExpired: (wasSeen) => expired.inc({ seen: String(wasSeen) }),
  };
}

/**
 * Counters of one service. `countPending` is asked when metrics are read; while it has no answer, the number is left
 * out rather than old.
 */
export function createMetrics(countPending: () => Promise<number>): ServiceMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const decisions = new Counter({
    name: 'aegis_decisions_total',
    help: 'Decisions answered',
    labelNames: ['decision', 'dry_run'],
    registers,
  });
  const hashMismatches = new Counter({
    name: 'approval_hash_mismatch_total',
    help: 'Requests whose hash was not the hash of the action: an action may have been swapped',
    registers,
  });
  const consumesRefused = new Counter({
    name: 'approval_consume_refused_total',
    help: 'Consumes refused, by problem code',
    labelNames: ['code'],
    registers,
  });
  const answers = new Histogram({
    name: 'aegis_http_request_duration_seconds',
    help: 'Time from request to answer, by route and status',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30, 60],
    registers,
  });
  new Gauge({
    name: 'aegis_approvals_pending',
    help: 'Approvals of all tenants that wait for a decision',
    registers,
    async collect() {
      this.reset();
      const pending = await countPending().catch(() => undefined);
      if (pending !== undefined) this.set(pending);
    },
  });
  return {
    ...createPeopleMetrics(registers),
    countDecision: (decision, dryRun) => decisions.inc({ decision, dry_run: String(dryRun) }),
    countHashMismatch: () => hashMismatches.inc(),
    countConsumeRefused: (code) => consumesRefused.inc({ code }),
    onAnswer: ({ route, method, status, seconds }) => answers.observe({ route, method, status }, seconds),
    text: () => registry.metrics(),
  };
}
