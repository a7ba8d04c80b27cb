import { createHash } from 'node:crypto';
import { copySpec, freezeAction } from '../sdk/typescript/src/action_spec.ts';
import { sha256Hex } from '../sdk/typescript/src/digest.ts';
import { quantile } from './stats.ts';

const LINES = Array.from({ length: 7 }, (_, index) => ({
  sku: `item-${1000 + index}`,
  quantity: index + 1,
  price: 12.5 * (index + 1),
  note: `the customer asked for it — ${index}`,
}));

/** An action of 1 KB: nested, with fractions and a few characters beyond ASCII, as agents send. */
const ACTION = {
  tool: 'stripe',
  action: 'refund',
  resource: 'ch_3Mmlq1LkdIwHu7ix0snN0B15',
  mutates_state: true,
  parameters: {
    amount: 120_000,
    currency: 'usd',
    customer_id: 'cus_8412',
    memo: 'charged twice, reported by phone',
    tags: ['refund', 'vip', 'q3'],
    approved: {
      by: 'desk-4',
      at: '2026-01-05T10:00:00Z',
      flags: { urgent: true, repeated: false, ticket: null },
    },
    lines: LINES,
  },
};

const SPEC = copySpec({ tool: 'stripe', action: 'refund', resource: ACTION.resource, mutatesState: true });

const REPEATS = 200;

function meanMicroseconds(run: () => unknown): number {
  const startedAt = performance.now();
  for (let repeat = 0; repeat < REPEATS; repeat += 1) run();
  return ((performance.now() - startedAt) * 1000) / REPEATS;
}

export interface SdkCost {
  ratio: number;
  bytes: number;
  sdk: { p50: number; p99: number };
  plain: { p50: number; p99: number };
}

/**
 * What `protect` does before it sends anything: the arguments to JSON values, strictly, to the canonical text, to
 * its hash. In microseconds, against `JSON.stringify` and SHA-256.
 */
export function measureSdk(rounds: number): SdkCost {
  const sdk: number[] = [];
  const plain: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    plain.push(meanMicroseconds(() => createHash('sha256').update(JSON.stringify(ACTION)).digest('hex')));
    sdk.push(meanMicroseconds(() => sha256Hex(freezeAction(SPEC, ACTION.parameters))));
  }
  const summary = (values: number[]) => ({ p50: quantile(values, 0.5), p99: quantile(values, 0.99) });
  return {
    ratio: quantile(sdk, 0.5) / quantile(plain, 0.5),
    bytes: Buffer.byteLength(JSON.stringify(ACTION)),
    sdk: summary(sdk),
    plain: summary(plain),
  };
}
