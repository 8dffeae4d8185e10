import type { Catalogue } from '../catalogue.ts';
import type { LatestIndex } from '../latest.ts';
import type { Ranked } from '../ranked.ts';
import type { Ask, Source } from './source.ts';

/** The newest items; the score is in seconds since the epoch. */
export class LatestSource implements Source {
  private readonly latest: LatestIndex;
  private readonly catalogue: Catalogue;

  constructor(latest: LatestIndex, catalogue: Catalogue) {
    this.latest = latest;
    this.catalogue = catalogue;
  }

  rank({ k, accept, categories }: Pick<Ask, 'k' | 'accept' | 'categories'>): Ranked {
    const { latest, catalogue } = this;
    const rows: number[] = [];
    if (k > 0) {
      latest.walk(categories, (row) => {
        if (catalogue.isListable(row) && accept(row)) rows.push(row);
        return rows.length < k;
      });
    }
    return { rows, scores: rows.map((row) => catalogue.timestampMsAt(row) / 1000) };
  }
}
