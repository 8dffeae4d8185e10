import type { Past } from '../../src/evaluate/read-feedback.ts';

export const HOUR_MS = 3_600_000;

/** A record of user, item, hour and whether it is a like. */
export type TestRecord = readonly [user: number, item: number, hour: number, like?: boolean];

/** The past of some records; ids are `u0`, `i0` and so on. */
export function pastOf(records: readonly TestRecord[]): Past {
  const ids = (count: number, letter: string) => Array.from({ length: count }, (_, row) => `${letter}${row}`);
  const users = 1 + Math.max(...records.map(([user]) => user));
  const items = 1 + Math.max(...records.map(([, item]) => item));
  return {
    userIds: ids(users, 'u'),
    itemIds: ids(items, 'i'),
    users: [],
    items: [],
    userRows: records.map(([user]) => user),
    itemRows: records.map(([, item]) => item),
    timesMs: records.map(([, , hour]) => hour * HOUR_MS),
    types: records.map(([, , , like = true]) => (like ? 'like' : 'read')),
    values: records.map(() => 0),
    isPositive: records.map(([, , , like = true]) => like),
  };
}
