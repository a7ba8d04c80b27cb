import { Aegis, AegisError } from '../../../sdk/typescript/src/index.ts';
import type { Place } from './place.ts';
import type { Stage } from './stage.ts';

/** What a refund's function is given; amounts in cents. */
export interface Refund {
  amount: number;
  currency: 'usd';
}

/** All that a scene plays with. */
export interface Cast {
  stage: Stage;
  place: Place;
  agent: Aegis;
  approver: Aegis;
  approver2: Aegis;
}

export const CONTEXT = { source_trust: 'trusted_internal' } as const;

export function assemble(stage: Stage, place: Place): Cast {
  const as = (key: string) => new Aegis({ baseUrl: place.url, key });
  return {
    stage,
    place,
    agent: as(place.agentKey),
    approver: as(place.approverKey),
    approver2: as(place.approver2Key),
  };
}

/** A guarded refund by this client, and what it really paid out. */
export function guardRefunds(agent: Aegis) {
  const paid: number[] = [];
  const refund = agent.protect(
    { tool: 'stripe', action: 'refund', resource: 'ch_demo', mutatesState: true, context: CONTEXT },
    ({ amount }: Refund) => {
      paid.push(amount);
    },
  );
  return { refund, paid };
}

export interface RawAnswer {
  status: number;
  /** The problem's code, or the approval's status. */
  said: string;
}

/** A consume as anybody sends it who has the agent's key: plain HTTP, no SDK in between. */
export async function consumeRaw(place: Place, approvalId: string, body: object): Promise<RawAnswer> {
  const response = await fetch(`${place.url}/v1/approvals/${approvalId}/consume`, {
    method: 'POST',
    headers: { authorization: `Bearer ${place.agentKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { code?: string; status?: string };
  return { status: response.status, said: answer.code ?? answer.status ?? '' };
}

export function describe({ status, said }: RawAnswer): string {
  return `${status} ${said}`;
}

/** The code a promise ends in, the service's or else the SDK's; `done` for one that does not. Other errors pass. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'done';
  } catch (error) {
    if (error instanceof AegisError) return error.problem?.code ?? error.code;
    throw error;
  }
}
