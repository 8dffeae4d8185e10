import type { Catalogue } from './catalogue.ts';
import { filterRanked, type Ranked, TopK } from './ranked.ts';
import type { Trends } from './trends.ts';

/** The ranking kept between two changes has at least so many items. */
const KEPT_MIN = 512;
/** Fetched beside those wanted, for what will be refused. */
const SPARE = 64;

/** Items by positive feedback inside the window, most first. */
export class PopularIndex {
  private readonly trends: Trends;
  private readonly catalogue: Catalogue;
  /** The first `keptLength` of all listable items, as of the versions below. */
  private kept: Ranked = { rows: [], scores: [] };
  private keptLength = 0;
  private keptTrends = -1;
  private keptCatalogue = -1;
  private catalogueVersion = 0;

  constructor(trends: Trends, catalogue: Catalogue) {
    this.trends = trends;
    this.catalogue = catalogue;
    catalogue.onChange(() => this.catalogueVersion++);
  }

  /** The `k` most counted listable items in all of `categories` that pass `accept`, best first. */
  top(k: number, categories: readonly string[], accept: (row: number) => boolean): Ranked {
    this.trends.drain();
    const { catalogue } = this;
    const members = catalogue.narrowest(categories);
    if (members !== undefined)
      return this.best(k, members, (row) => catalogue.isInAll(row, categories) && accept(row));
    const isShown = (row: number) => catalogue.isListable(row) && accept(row);
    for (let length = Math.max(KEPT_MIN, k + SPARE); ; length *= 2) {
      const ranking = this.ranking(length);
      const found = filterRanked(ranking, k, isShown);
      if (found.rows.length === k || ranking.rows.length < length) return found;
    }
  }

  /** The first `length` or more of all items; made anew only after something has changed. */
  private ranking(length: number): Ranked {
    const { trends, catalogueVersion } = this;
    const isCurrent = this.keptTrends === trends.windowVersion && this.keptCatalogue === catalogueVersion;
    if (isCurrent && this.keptLength >= length) return this.kept;
    this.kept = this.best(length, undefined, () => true);
    this.keptLength = length;
    this.keptTrends = trends.windowVersion;
    this.keptCatalogue = catalogueVersion;
    return this.kept;
  }

  /** @param members looks at these alone; at all items when undefined */
  private best(k: number, members: Iterable<number> | undefined, accept: (row: number) => boolean): Ranked {
    const { catalogue } = this;
    const counts = this.trends.window;
    const best = new TopK(k);
    const consider = (row: number) => {
      const count = counts[row] ?? 0;
      if (count > 0 && catalogue.isListable(row) && accept(row)) best.push(row, count);
    };
    if (members !== undefined) for (const row of members) consider(row);
    else for (let row = 0; row < counts.length; row++) consider(row);
    return best.sorted();
  }
}
