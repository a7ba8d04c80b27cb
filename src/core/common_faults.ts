import { Fault } from './fault.ts';

// Faults that arise in more than one place, so that they read the same to the byte.

/** What is missing, another tenant's, or not readable by this caller: one answer for all three. */
export function notFound(): Fault {
  return new Fault(
    'not_found',
    'there is nothing here that this credential may see. Check the id and the credential',
  );
}

/** No, an unknown, an expired or a revoked credential. */
export function unauthenticated(): Fault {
  return new Fault(
    'unauthenticated',
    'a valid credential is needed. Send `Authorization: Bearer <key>` with a key that stands',
  );
}

/** The agent has no standing at all, whatever policy says. */
export function agentFrozen(): Fault {
  return new Fault(
    'agent_frozen',
    'this agent is frozen. An operator can lift it with `POST /v1/agents/:agent/unfreeze`',
  );
}

/** The first request under an idempotency key is still being answered. */
export function idempotencyInFlight(): Fault {
  return new Fault(
    'idempotency_in_flight',
    'a request with this `Idempotency-Key` is being answered. Send it again in a moment',
    { retryAfterSeconds: 1 },
  );
}

/** The rules that decide now are not those loaded in this process: no cached rule decides. */
export function revisionNotLoaded(): Fault {
  return unavailable(new Error('the active policy revision is not the one loaded here'));
}

/** A dependency does not answer, or not yet; nothing has changed. `cause` is for the log. */
export function unavailable(cause: unknown): Fault {
  return new Fault('unavailable', 'the service cannot answer now. Try again', {
    retryAfterSeconds: 1,
    cause,
  });
}
