import type { LiveState } from './live-state.ts';

/** A user may have read some of the global lists: they are this much longer than a user's list. */
export const SPARE_FACTOR = 4;

/** Listable items, newest first. */
export function topLatest({ latest, catalogue }: LiveState, cacheSize: number): readonly number[] {
  const rows: number[] = [];
  latest.walk([], (row) => {
    if (catalogue.isListable(row)) rows.push(row);
    return rows.length < cacheSize * SPARE_FACTOR;
  });
  return rows;
}

/** Listable items, most popular first. */
export function topPopular({ popular }: LiveState, cacheSize: number): readonly number[] {
  return popular.top(cacheSize * SPARE_FACTOR, [], () => true).rows;
}
