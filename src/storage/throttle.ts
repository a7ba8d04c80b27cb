import { createHash } from 'node:crypto';
import { RateLimiterDrizzle, RateLimiterRes } from 'rate-limiter-flexible';
import { unavailable } from '../core/common_faults.ts';
import { Fault } from '../core/fault.ts';
import type { Throttle } from '../core/ports.ts';
import type { Database } from './database.ts';
import { rateLimits } from './schema.ts';

export interface ThrottleLimits {
  attemptLimit: number;
  attemptWindowSeconds: number;
  addressFailureLimitPerMinute: number;
}

const MS_PER_SECOND = 1000;

function throttled(detail: string, msBeforeNext: number): Fault {
  return new Fault('throttled', detail, {
    retryAfterSeconds: Math.max(1, Math.ceil(msBeforeNext / MS_PER_SECOND)),
  });
}

const ATTEMPTS_DETAIL =
  'too many failed attempts on this approval with this credential. Wait, read the approval, then try again';
const ADDRESS_DETAIL = 'too many requests without a valid credential from this address. Wait, then try again';

/** Counts in the database, one upsert a count, so that all replicas share them. */
export function createThrottle(database: Database, limits: ThrottleLimits): Throttle {
  const limiter = (points: number, duration: number) =>
    new RateLimiterDrizzle({
      storeClient: database.db,
      schema: rateLimits,
      points,
      duration,
      keyPrefix: '',
    });
  const attempts = limiter(limits.attemptLimit, limits.attemptWindowSeconds);
  const addresses = limiter(limits.addressFailureLimitPerMinute, 60);

  /** FAIL CLOSED: a rejection that is no count means the store did not answer. */
  const count = async (limiterOfKey: RateLimiterDrizzle, key: string, detail: string): Promise<void> => {
    try {
      await limiterOfKey.consume(key);
    } catch (rejection) {
      if (rejection instanceof RateLimiterRes) throw throttled(detail, rejection.msBeforeNext);
      throw unavailable(rejection);
    }
  };

  return {
    assertAttemptsLeft: async (attemptKey) => {
      const used = await attempts.get(attemptKey).catch((error: unknown) => {
        throw unavailable(error);
      });
      if (used !== null && used.consumedPoints >= limits.attemptLimit) {
        throw throttled(ATTEMPTS_DETAIL, used.msBeforeNext);
      }
    },
    countFailedAttempt: (attemptKey) => count(attempts, attemptKey, ATTEMPTS_DETAIL),
    countAddressFailure: (address) =>
      count(addresses, `address:${createHash('sha256').update(address).digest('hex')}`, ADDRESS_DETAIL),
  };
}
