/*
 * Bytes that records take, by `npm run bench:cluster` with PostgreSQL 15 and Redis 7. Those of PostgreSQL are a sum over what is there, for
 * tables that were filled in no order.
 */
const EMPTY_BYTES = 1_100_000;
const ENTITY_BYTES = 160;
const FEEDBACK_BYTES = 87;
const LIST_BYTES = 920;

/** Bytes of PostgreSQL without what is kept for nodes that are behind. */
export function postgresBytes({
  users,
  items,
  feedback,
}: Readonly<Record<'users' | 'items' | 'feedback', number>>): number {
  return EMPTY_BYTES + (users + items) * ENTITY_BYTES + feedback * FEEDBACK_BYTES;
}

/** Bytes of Redis for so many lists of 100. */
export function redisBytes(lists: number): number {
  return lists * LIST_BYTES;
}
