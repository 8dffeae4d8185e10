import type { Catalogue } from './catalogue.ts';
import { type Ranked, TopK } from './ranked.ts';
import type { Trends } from './trends.ts';

/** Items by positive feedback inside the window, most first. */
export class PopularIndex {
  private readonly trends: Trends;
  private readonly catalogue: Catalogue;

  constructor(trends: Trends, catalogue: Catalogue) {
    this.trends = trends;
    this.catalogue = catalogue;
  }

  /** The `k` most counted listable items in all of `categories` that pass `accept`, best first. */
  top(k: number, categories: readonly string[], accept: (row: number) => boolean): Ranked {
    const { trends, catalogue } = this;
    trends.drain();
    const counts = trends.window;
    const best = new TopK(k);
    const consider = (row: number) => {
      const count = counts[row] ?? 0;
      if (count > 0 && catalogue.isListable(row) && catalogue.isInAll(row, categories) && accept(row))
        best.push(row, count);
    };
    const members = catalogue.narrowest(categories);
    if (members !== undefined) for (const row of members) consider(row);
    else for (let row = 0; row < catalogue.rowCount; row++) consider(row);
    return best.sorted();
  }
}
