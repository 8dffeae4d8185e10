import { PostgresLists } from '../postgres/postgres-lists.ts';
import { RedisLists } from '../redis/redis-lists.ts';
import { GuardedLists, type GuardOptions } from '../shared/guarded-lists.ts';
import type { SharedPlace } from '../shared/shared-lists.ts';

/** Lists that nodes share, for any thread. */
export function openSharedLists(place: SharedPlace, options?: GuardOptions): GuardedLists {
  const { dsn, waitMs } = place;
  const lists = dsn.engine === 'redis' ? new RedisLists(dsn, place) : new PostgresLists(dsn, place);
  return new GuardedLists(lists, { ...options, ...(waitMs !== undefined && { readMsMax: waitMs }) });
}
