import { Aegis, AegisError } from '../src/index.ts';

const aegis = new Aegis({
  baseUrl: process.env.AEGIS_URL ?? 'http://127.0.0.1:8080',
  key: process.env.AGENT ?? '',
});

interface Refund {
  amount: number;
  currency: 'usd' | 'eur' | 'gbp';
}

/** Asks before each refund, and runs on exactly what was decided. */
export const refund = aegis.protect(
  { tool: 'stripe', action: 'refund', mutatesState: true, context: { source_trust: 'trusted_internal' } },
  async (parameters: Refund, run) => {
    // Here the payment provider is called, with `run.runId` as the idempotency key.
    return { refunded: parameters.amount, currency: parameters.currency, run: run.runId };
  },
);

/** One step of an agent's loop: what goes back to the model is a result, or why there is none. */
export async function refundTool(parameters: Refund): Promise<string> {
  try {
    return JSON.stringify(await refund(parameters));
  } catch (error) {
    if (error instanceof AegisError) {
      return error.forModel;
    }
    throw error;
  }
}
