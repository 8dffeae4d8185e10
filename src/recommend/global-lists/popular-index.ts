import { filterRanked, mergeRanked, type Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Rows } from '../catalogue/row-postings.ts';
import type { PopularityCounts } from '../popularity/popularity-counts.ts';
import { RankedIndex, topKInTurns } from './ranked-index.ts';

/** The ranking that is kept has at least so many items when it is made. */
const KEPT_MIN = 2048;
/** Items in it of those wanted: some will be refused, and others fall. */
const KEPT_FACTOR = 2;
/** Items in it from which on it is cut to half of them. */
const KEPT_MAX = 8 * KEPT_MIN;
/** Items whose counts have changed from which on the ranking is made anew rather than brought up to date. */
const CHANGED_MAX = 4096;
/** Members of a category are looked for in the ranking where they are more than this share of all items. */
const RANKING_SHARE = 1 / 16;
/** Records that wait to be counted, taken between two pauses. */
const DRAINED_RECORDS = 512;

/**
 * Items by positive feedback inside the window, most first. The window ends now by the clock (`moving-window.ts`), so it
 * is empty where all feedback is old. By the time of the newest feedback (`data-clock.ts`) go only the ranking
 * of users' lists and the candidates that are trending.
 */
export class PopularIndex extends RankedIndex {
  private readonly popularity: PopularityCounts;
  /** The first of all counted items, listable or not; every other one stands behind the last of them. */
  private kept: Ranked = { rows: [], scores: [] };
  /** True when there is no other one. */
  private isWhole = false;
  /** Items that may stand elsewhere by now; undefined when the ranking is to be made anew. */
  private changed: Set<number> | undefined;

  constructor(popularity: PopularityCounts, catalogue: Catalogue) {
    super(catalogue);
    this.popularity = popularity;
    popularity.onWindowChange((row) => {
      this.changed?.add(row);
      if ((this.changed?.size ?? 0) > CHANGED_MAX) this.changed = undefined;
    });
  }

  first(k: number): readonly number[] {
    this.popularity.drain();
    const isShown = (row: number) => this.catalogue.isListable(row);
    for (let length = k; ; length = KEPT_FACTOR * Math.max(length, this.kept.rows.length)) {
      const found = filterRanked(this.ranking(length), k, isShown);
      if (found.rows.length === k || this.isWhole) return found.rows;
    }
  }

  protected *find(
    k: number,
    isShown: (row: number) => boolean,
    members: Rows | undefined,
  ): Generator<undefined, Ranked> {
    const { catalogue, popularity } = this;
    while (popularity.drain(DRAINED_RECORDS)) yield;
    const isWide = members === undefined || members.size > catalogue.itemCount * RANKING_SHARE;
    if (isWide && k <= KEPT_MIN) {
      const found = filterRanked(this.ranking(KEPT_FACTOR * k), k, isShown);
      if (found.rows.length === k || this.isWhole) return found;
    }
    const countOf = (row: number) => popularity.window[row] || Number.NaN;
    return yield* topKInTurns(members ?? rowsBelow(popularity.window.length), k, countOf, isShown);
  }

  /** The first `length` or more of all items. */
  private ranking(length: number): Ranked {
    this.bringUpToDate();
    if (this.kept.rows.length < length && !this.isWhole) {
      const keptLength = Math.max(KEPT_MIN, KEPT_FACTOR * length);
      this.kept = this.best(keptLength, undefined, () => true);
      this.isWhole = this.kept.rows.length < keptLength;
    }
    return this.kept;
  }

  /** Puts what has changed where it belongs, as far as that is known: behind the last one kept any other may stand. */
  private bringUpToDate(): void {
    const { changed, kept } = this;
    this.changed = new Set();
    if (changed === undefined) {
      this.kept = { rows: [], scores: [] };
      this.isWhole = false;
      return;
    }
    if (changed.size === 0) return;
    const lastRow = kept.rows.at(-1) ?? -1;
    const lastScore = kept.scores.at(-1) ?? Number.POSITIVE_INFINITY;
    const moved = this.best(changed.size, changed, (row) => {
      const count = this.popularity.window[row]!;
      return this.isWhole || count > lastScore || (count === lastScore && row <= lastRow);
    });
    this.kept = mergeRanked(
      filterRanked(kept, kept.rows.length, (row) => !changed.has(row)),
      moved,
    );
    if (this.kept.rows.length <= KEPT_MAX) return;
    this.kept = filterRanked(this.kept, KEPT_MAX / 2, () => true);
    this.isWhole = false;
  }

  /** @param members looks at these alone; at all items when undefined */
  private best(k: number, members: Iterable<number> | undefined, accept: (row: number) => boolean): Ranked {
    const counts = this.popularity.window;
    const best = new TopK(k);
    const consider = (row: number) => {
      const count = counts[row] ?? 0;
      if (count > 0 && best.takes(row, count) && accept(row)) best.push(row, count);
    };
    if (members !== undefined) for (const row of members) consider(row);
    else
      for (let row = 0; row < counts.length; row++)
        if (counts[row] !== 0 && counts[row]! >= best.scoreMin) consider(row);
    return best.sorted();
  }
}

function* rowsBelow(end: number): Generator<number, void> {
  for (let row = 0; row < end; row++) yield row;
}
