import { GuardedLists, type GuardOptions } from './guarded-lists.ts';
import { PostgresLists } from './postgres/postgres-lists.ts';
import { RedisLists } from './redis/redis-lists.ts';
import type { SharedPlace } from './shared-lists.ts';

/** Lists that nodes share, for any thread. */
export function openSharedLists(place: SharedPlace, options?: GuardOptions): GuardedLists {
  const { dsn, waitMs } = place;
  const lists = dsn.engine === 'redis' ? new RedisLists(dsn, place) : new PostgresLists(dsn, place);
  return new GuardedLists(lists, { ...options, ...(waitMs !== undefined && { readMsMax: waitMs }) });
}
