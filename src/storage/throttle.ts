import { createHash } from 'node:crypto';
import { and, gt, gte, inArray, sql } from 'drizzle-orm';
import { RateLimiterDrizzle, RateLimiterRes } from 'rate-limiter-flexible';
import { unavailable } from '../core/common_faults.ts';
import { Fault } from '../core/fault.ts';
import type { Throttle } from '../core/ports.ts';
import { createSharedRead } from './batcher.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import { rateLimits } from './schema.ts';

export interface ThrottleLimits {
  attemptLimit: number;
  attemptWindowSeconds: number;
  addressFailureLimitPerMinute: number;
}

const MS_PER_SECOND = 1000;
const ADDRESS_WINDOW_SECONDS = 60;
const now = sql`clock_timestamp()`;

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
  const limiter = (points: number, duration: number, inMemoryBlockOnConsumed = 0) =>
    new RateLimiterDrizzle({
      storeClient: database.db,
      schema: rateLimits,
      points,
      duration,
      keyPrefix: '',
      inMemoryBlockOnConsumed,
    });
  const attempts = limiter(limits.attemptLimit, limits.attemptWindowSeconds);
  // An address found over its limit is refused from memory until its window ends: a flood makes no more statements
  // that wait for one row's lock. A valid credential is never counted, so nothing else is refused by it.
  const addresses = limiter(
    limits.addressFailureLimitPerMinute,
    ADDRESS_WINDOW_SECONDS,
    limits.addressFailureLimitPerMinute + 1,
  );

  /** FAIL CLOSED: a rejection that is no count means the store did not answer. */
  const count = async (limiterOfKey: RateLimiterDrizzle, key: string, detail: string): Promise<void> => {
    try {
      await guarded(() => limiterOfKey.consume(key));
    } catch (rejection) {
      if (rejection instanceof RateLimiterRes) throw throttled(detail, rejection.msBeforeNext);
      throw unavailable(rejection);
    }
  };

  /** Milliseconds until a full counter starts anew; undefined for one that is not full. */
  const findFull = createSharedRead(async (keys) => {
    const full = await guarded(() =>
      database.db
        .select({
          key: rateLimits.key,
          ms: sql<number>`extract(epoch from ${rateLimits.expire} - ${now}) * 1000`,
        })
        .from(rateLimits)
        .where(
          and(
            inArray(rateLimits.key, keys),
            gte(rateLimits.points, limits.attemptLimit),
            gt(rateLimits.expire, now),
          ),
        ),
    );
    return new Map(full.map(({ key, ms }) => [key, Number(ms)]));
  });

  return {
    assertAttemptsLeft: async (attemptKey) => {
      const msBeforeNext = await findFull(attemptKey);
      if (msBeforeNext !== undefined) throw throttled(ATTEMPTS_DETAIL, msBeforeNext);
    },
    countFailedAttempt: (attemptKey) => count(attempts, attemptKey, ATTEMPTS_DETAIL),
    countAddressFailure: (address) =>
      count(addresses, `address:${createHash('sha256').update(address).digest('hex')}`, ADDRESS_DETAIL),
  };
}
