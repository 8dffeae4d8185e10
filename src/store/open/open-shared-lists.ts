import { PostgresLists } from '../postgres/postgres-lists.ts';
import { RedisLists } from '../redis/redis-lists.ts';
import { type BreakerOptions, CircuitBreaker } from '../shared/circuit-breaker.ts';
import type { SharedPlace } from '../shared/shared-lists.ts';

/** Lists that nodes share, for any thread. */
export function openSharedLists(place: SharedPlace, options?: BreakerOptions): CircuitBreaker {
  const { dsn, waitMs } = place;
  const lists = dsn.engine === 'redis' ? new RedisLists(dsn, place) : new PostgresLists(dsn, place);
  const patience = waitMs !== undefined && { readMsMax: waitMs, changeMsMax: waitMs };
  return new CircuitBreaker(lists, { ...options, ...patience });
}
