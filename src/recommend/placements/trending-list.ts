import type { Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';
import { inTurns } from '../../platform/concurrency/event-loop-turns.ts';
import type { PopularityCounts } from '../popularity/popularity-counts.ts';
import { POPULARITY_SCALES } from '../popularity/popularity-scales.ts';
import { KeptForAWhile } from './kept-for-a-while.ts';

const LENGTH_MAX = 2000;
const FRESH_MS = 60_000;
/** Rows that are looked at between two pauses. */
const STEP_ROWS = 8192;
/** What counts as lately, and as the past of an item. */
const LATELY = POPULARITY_SCALES.indexOf('2d');
const PAST = POPULARITY_SCALES.indexOf('30d');
/** Likes lately below which an item's rise tells nothing. */
const LIKES_MIN = 2;

/**
 * Items that rise against their own past: by how many standard deviations of a Poisson count the likes of about two days are more than
 * the item's share in those of a month lets expect. What rises with all others does not.
 */
export class TrendingList {
  private readonly counts: Pick<PopularityCounts, 'scales' | 'totals'>;
  private readonly kept = new KeptForAWhile<'', Ranked>(FRESH_MS, 1);

  constructor(counts: Pick<PopularityCounts, 'scales' | 'totals'>) {
    this.counts = counts;
  }

  /** The list, at most a minute old; it is made in turns. */
  current(nowMs: number): Promise<Ranked> {
    return this.kept.of('', nowMs, () => inTurns(this.make()));
  }

  private *make(): Generator<undefined, Ranked> {
    const { scales } = this.counts;
    const totals = this.counts.totals();
    const lately = scales[LATELY]!;
    const past = scales[PAST]!;
    // Counts are kept up to a factor that all items of a scale share.
    const latelyFactor = lately.total > 0 ? totals[LATELY]! / lately.total : 0;
    const expectedFactor = past.total > 0 ? totals[LATELY]! / past.total : 0;
    const best = new TopK(LENGTH_MAX);
    const length = Math.min(lately.values.length, past.values.length);
    for (let row = 0; row < length; row++) {
      if (row % STEP_ROWS === STEP_ROWS - 1) yield;
      const likes = lately.values[row]! * latelyFactor;
      if (likes < LIKES_MIN / 2) continue;
      const expected = past.values[row]! * expectedFactor;
      if (likes > expected) best.push(row, (likes - expected) / Math.sqrt(expected + 1));
    }
    return best.sorted();
  }
}
