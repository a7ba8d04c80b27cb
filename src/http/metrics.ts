import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { Metrics } from '../core/ports.ts';
import type { AppOptions } from './app.ts';

export interface ServiceMetrics extends Metrics {
  onAnswer: NonNullable<AppOptions['onAnswer']>;
  /** All metrics in Prometheus' text format. */
  text(): Promise<string>;
}

/** Counters of one service. */
export function createMetrics(): ServiceMetrics {
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
  return {
    countDecision: (decision, dryRun) => decisions.inc({ decision, dry_run: String(dryRun) }),
    countHashMismatch: () => hashMismatches.inc(),
    countConsumeRefused: (code) => consumesRefused.inc({ code }),
    onAnswer: ({ route, method, status, seconds }) => answers.observe({ route, method, status }, seconds),
    text: () => registry.metrics(),
  };
}
