import { TopK } from '../../memory/top-k.ts';
import { atOnce } from '../../platform/concurrency/event-loop-turns.ts';
import type { ScaledCounts } from '../popularity/decayed-counts.ts';
import type { InMemoryState } from './in-memory-state.ts';

/** A user may have read some of the global lists: they are this much longer than a user's list. */
export const SPARE_FACTOR = 4;

/** Rows looked at between two pauses: some tenths of a millisecond where each of them is among the best so far. */
const STEP_ROWS = 4096;

/** Listable items, newest first. */
export function topLatest({ latest }: InMemoryState, cacheSize: number): readonly number[] {
  return latest.first(cacheSize * SPARE_FACTOR);
}

/** Listable items, most popular first. */
export function topPopular({ popular }: InMemoryState, cacheSize: number): readonly number[] {
  return popular.first(cacheSize * SPARE_FACTOR);
}

/** Listable items with the most positive feedback on a popularity scale, most first. */
export function topTrending(
  counts: ScaledCounts,
  cacheSize: number,
  isListable: (itemRow: number) => boolean,
): readonly number[] {
  return atOnce(topTrendingInSteps(counts, cacheSize, isListable));
}

/** The same with a pause now and then; the counts stay as they are meanwhile. */
export function* topTrendingInSteps(
  { values }: ScaledCounts,
  cacheSize: number,
  isListable: (itemRow: number) => boolean,
): Generator<undefined, readonly number[]> {
  const best = new TopK(cacheSize * SPARE_FACTOR);
  for (let row = 0; row < values.length; row++) {
    if (row % STEP_ROWS === STEP_ROWS - 1) yield;
    const value = values[row]!;
    if (value > 0 && best.takes(row, value) && isListable(row)) best.push(row, value);
  }
  return best.sorted().rows;
}
